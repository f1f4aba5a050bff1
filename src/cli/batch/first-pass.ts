import type { Context } from '../context.ts';
import { type CliError, usageError } from '../core/errors.ts';
import { requestDigest } from '../inputs/request-body.ts';
import { isFaulty, type SourceRow } from '../inputs/rows/row.ts';
import { type RowSource, readRows } from '../inputs/rows/row-source.ts';
import { isInShard } from '../inputs/rows/shard.ts';
import type { BatchJournal } from '../jobs/batch-journal.ts';
import { handedRows } from '../jobs/provider-batch/batch-handover.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import type { BatchOptions } from './batch-options.ts';
import { type PreparedBatch, prepareRow, refuseStrayColumns } from './prepare-batch.ts';
import { madeNoRun, type ResultsFile } from './results/results-line.ts';

/** The state that a batch is resumed from. */
export interface EarlierState {
  readonly journal: BatchJournal;
  readonly results: ResultsFile;
}

/** The result of reading all rows once. */
export type FirstPass = Awaited<ReturnType<typeof readOnce>>;

/**
 * Reads all rows once before any is run: counts those of the shard, and compares them with the state that the batch is
 * resumed from.
 *
 * @throws {CliError} if the whole source is invalid, or rows don't match that state
 */
export async function readOnce(
  ctx: Context,
  source: RowSource,
  {
    batch,
    options,
    before,
  }: { batch: PreparedBatch; options: BatchOptions; before: EarlierState | undefined },
) {
  const check = before && new RowCheck(ctx, batch, before);
  let count = 0;
  for await (const row of readRows(source, ctx.signal, batch.fields)) {
    if (row.row === 1) refuseStrayColumns(batch, source, row);
    const isOwn = isInShard(options.shard, row.row);
    if (isOwn) count += 1;
    await check?.take(row, isOwn);
  }
  await check?.compareWithMachine();
  const fault = check?.fault(options, source.name);
  if (fault !== undefined) throw fault;
  check?.dropReplaced();
  return {
    /** The number of rows in the shard. */
    count,
    /** The ids of rows whose inputs, version or options have changed since they were sent. */
    changed: new Set(check?.changed.keys()),
  };
}

type SentRow = Pick<JournalEntry, 'promptVersionId' | 'inputsDigest'>;

class RowCheck {
  readonly changed = new Map<string, SourceRow>();
  readonly #ctx: Context;
  readonly #batch: PreparedBatch;
  readonly #before: EarlierState;
  readonly #handed: ReturnType<typeof handedRows>;
  /** The ids in journal and results without a row. */
  readonly #strays: Set<string>;
  /** The ids of results without a run and without a row. */
  readonly #neverRan: Set<string>;
  /** A row that may or may not have been sent, because its journal is gone. */
  #unknown: SourceRow | undefined;
  /** Rows with a result and no journal, by the ids of their runs. */
  readonly #ended = new Map<string, SourceRow>();

  constructor(ctx: Context, batch: PreparedBatch, earlierState: EarlierState) {
    this.#ctx = ctx;
    this.#batch = batch;
    this.#before = earlierState;
    this.#handed = handedRows(earlierState.journal);
    const results = [...earlierState.results.states];
    this.#neverRan = new Set(results.filter(([, state]) => madeNoRun(state)).map(([id]) => id));
    this.#strays = new Set([...idsThatNeedRows(earlierState), ...this.#handed.keys()]);
  }

  async take(row: SourceRow, isOwn: boolean): Promise<void> {
    const { journal, results } = this.#before;
    results.recognise?.(row);
    this.#neverRan.delete(row.id);
    this.#strays.delete(row.id);
    const sent = this.#handed.get(row.id) ?? journal.states.get(row.id)?.entry;
    const result = results.states.get(row.id);
    if (sent !== undefined && (await this.#isChanged(row, sent))) this.changed.set(row.id, row);
    if (sent === undefined && result?.runId !== undefined && result.runStatus !== 'failed') {
      this.#ended.set(result.runId, row);
    }
    const isKnown = journal.facts !== undefined || !results.existed || results.states.has(row.id);
    if (!isKnown && isOwn) this.#unknown ??= row;
  }

  /** Returns the error that keeps the batch from resuming. */
  fault({ out, newRows, changed }: BatchOptions, source: string): CliError | undefined {
    const rowName = ({ id, line }: SourceRow): string => `row ${JSON.stringify(id)} (${source} line ${line})`;
    const [stray] = this.#strays;
    const run = this.#before.results.unmatchedRun?.();
    if (stray !== undefined || run !== undefined) {
      return usageError(
        `${out} has a result of ${stray === undefined ? `run ${run}` : `row ${JSON.stringify(stray)}`}, which is not in ${source}`,
        'Use the rows that the results were made from, or name another file with --out.',
      );
    }
    if (this.#unknown !== undefined && !newRows) {
      return usageError(
        `${out} has no result of ${rowName(this.#unknown)}, and the journal is missing, so the row may have been run`,
        'If the rows without a result are new or corrected, add --new-rows.',
      );
    }
    const [first, ...furtherRows] = this.changed.values();
    if (first === undefined || changed !== undefined) return undefined;
    return usageError(
      furtherRows.length === 0
        ? `${rowName(first)} has changed since it was sent: its inputs, version or options differ`
        : `${rowName(first)} and ${furtherRows.length} more have changed since they were sent: their inputs, version or options differ`,
      'Add --changed run to run such rows again, or --changed skip to keep their results.',
    );
  }

  /** Compares rows whose own journal is gone with the creations in the machine's journal, if they were made here. */
  async compareWithMachine(): Promise<void> {
    if (this.#ended.size === 0) return;
    for await (const entry of this.#ctx.journal.newestFirst()) {
      const row = this.#ended.get(entry.runId ?? '');
      if (row === undefined) continue;
      if (await this.#isChanged(row, entry)) this.changed.set(row.id, row);
      this.#ended.delete(entry.runId ?? '');
      if (this.#ended.size === 0) return;
    }
  }

  /** Drops the results of faulty rows that the source no longer has. A corrected row may have another id or other columns. */
  dropReplaced(): void {
    this.#before.results.drop?.(this.#neverRan);
  }

  async #isChanged(row: SourceRow, sentRow: SentRow): Promise<boolean> {
    if (isFaulty(row) || sentRow.promptVersionId !== this.#batch.promptVersionId) return true;
    return prepareRow(this.#ctx, this.#batch, row).then(
      request => requestDigest(request) !== sentRow.inputsDigest,
      () => true,
    );
  }
}

/** Yields the ids that must still have a row. A row that never had a run may have been corrected and have another id. */
function* idsThatNeedRows({ journal, results }: EarlierState): Generator<string> {
  for (const [id, state] of results.states) {
    if (!madeNoRun(state)) yield id;
  }
  for (const [id, { entry }] of journal.states) {
    if (entry !== undefined) yield id;
  }
}
