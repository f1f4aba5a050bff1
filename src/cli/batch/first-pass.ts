import type { Context } from '../context.ts';
import { type CliError, usageError } from '../core/errors.ts';
import { computeRequestDigest } from '../inputs/request-body.ts';
import { isFaulty, type SourceRow } from '../inputs/rows/row.ts';
import { type RowSource, readRows } from '../inputs/rows/row-source.ts';
import { isInShard } from '../inputs/rows/shard.ts';
import type { BatchJournal } from '../jobs/batch-journal.ts';
import { collectHandoverRows, type HandoverRow } from '../jobs/provider-batch/batch-handover.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import type { BatchOptions } from './batch-options.ts';
import { type PreparedBatch, prepareRow, throwIfStrayColumn } from './prepare-batch.ts';
import { madeNoRun } from './results/result-state.ts';
import type { ResultsSink } from './results/results-file.ts';

/** The state that a batch is resumed from. */
export interface EarlierState {
  readonly journal: BatchJournal;
  readonly results: ResultsSink;
}

/** The result of reading all rows once. */
export interface FirstPass {
  /** The number of rows in the shard. */
  readonly rowCount: number;
  /** The ids of rows whose inputs, version or options have changed since they were sent. */
  readonly changedIds: ReadonlySet<string>;
}

interface FirstPassOptions {
  readonly batch: PreparedBatch;
  readonly options: BatchOptions;
  /** The state that the batch is resumed from; undefined if it is not resumed. */
  readonly earlierState: EarlierState | undefined;
}

/**
 * Reads all rows once before any is run: counts those of the shard, and compares them with the
 * state that the batch is resumed from.
 *
 * @throws {CliError} if the whole source is invalid, or rows don't match that state
 */
export async function readRowsOnce(
  ctx: Context,
  source: RowSource,
  { batch, options, earlierState }: FirstPassOptions,
): Promise<FirstPass> {
  const check = earlierState && new ResumedRowsCheck(ctx, batch, earlierState);
  let rowCount = 0;
  for await (const row of readRows(source, ctx.signal, batch.fields)) {
    if (row.row === 1) throwIfStrayColumn(batch, source, row);
    const isRowInShard = isInShard(options.shard, row.row);
    if (isRowInShard) rowCount += 1;
    await check?.add(row, { isInShard: isRowInShard });
  }

  await check?.compareWithMachineJournal();
  const fault = check?.findFault(options, source.name);
  if (fault !== undefined) throw fault;

  check?.dropReplacedResults();
  return { rowCount, changedIds: new Set(check?.changedRows.keys()) };
}

type SentRow = Pick<JournalEntry, 'promptVersionId' | 'inputsDigest'>;

/** Compares the rows of a resumed batch with its journal and results. */
class ResumedRowsCheck {
  /** The rows that have changed since they were sent, by id. */
  readonly changedRows = new Map<string, SourceRow>();
  readonly #ctx: Context;
  readonly #batch: PreparedBatch;
  readonly #earlierState: EarlierState;
  readonly #handoverRows: ReadonlyMap<string, HandoverRow>;
  /** The ids in journal and results for which no row was found yet. */
  readonly #idsWithoutRow: Set<string>;
  /** The ids of results without a run for which no row was found yet. */
  readonly #runlessIdsWithoutRow: Set<string>;
  /** The first row without a result that may have been sent, because the journal is gone. */
  #possiblySentRow: SourceRow | undefined;
  /** Rows with a result and no journal, by the ids of their runs. */
  readonly #rowsByRunId = new Map<string, SourceRow>();

  constructor(ctx: Context, batch: PreparedBatch, earlierState: EarlierState) {
    this.#ctx = ctx;
    this.#batch = batch;
    this.#earlierState = earlierState;
    this.#handoverRows = collectHandoverRows(earlierState.journal);
    const results = [...earlierState.results.states];
    this.#runlessIdsWithoutRow = new Set(
      results.filter(([, state]) => madeNoRun(state)).map(([id]) => id),
    );
    this.#idsWithoutRow = new Set([
      ...iterateRequiredRowIds(earlierState),
      ...this.#handoverRows.keys(),
    ]);
  }

  async add(row: SourceRow, { isInShard }: { readonly isInShard: boolean }): Promise<void> {
    const { journal, results } = this.#earlierState;
    results.matchRow?.(row);
    this.#runlessIdsWithoutRow.delete(row.id);
    this.#idsWithoutRow.delete(row.id);
    const sentRow = this.#handoverRows.get(row.id) ?? journal.states.get(row.id)?.entry;
    const result = results.states.get(row.id);
    if (sentRow !== undefined && (await this.#isChanged(row, sentRow))) {
      this.changedRows.set(row.id, row);
    }

    if (sentRow === undefined && result?.runId !== undefined && result.runStatus !== 'failed') {
      this.#rowsByRunId.set(result.runId, row);
    }

    const isJournalLost = journal.facts === undefined && results.hasEarlierResults;
    if (isJournalLost && result === undefined && isInShard) this.#possiblySentRow ??= row;
  }

  /**
   * Compares rows whose own journal is gone with the creations in the machine's journal, if they
   * were made here.
   */
  async compareWithMachineJournal(): Promise<void> {
    if (this.#rowsByRunId.size === 0) return;
    for await (const entry of this.#ctx.journal.readNewestFirst()) {
      const row = this.#rowsByRunId.get(entry.runId ?? '');
      if (row === undefined) continue;
      if (await this.#isChanged(row, entry)) this.changedRows.set(row.id, row);
      this.#rowsByRunId.delete(entry.runId ?? '');
      if (this.#rowsByRunId.size === 0) return;
    }
  }

  /** Returns the error that keeps the batch from resuming. */
  findFault(options: BatchOptions, sourceName: string): CliError | undefined {
    return (
      this.#findStrayResultFault(options, sourceName) ??
      this.#findLostJournalFault(options, sourceName) ??
      this.#findChangedRowsFault(options, sourceName)
    );
  }

  /**
   * Drops the results of faulty rows that the source no longer has. A corrected row may have
   * another id or other columns.
   */
  dropReplacedResults(): void {
    this.#earlierState.results.drop?.(this.#runlessIdsWithoutRow);
  }

  #findStrayResultFault({ out }: BatchOptions, sourceName: string): CliError | undefined {
    const [id] = this.#idsWithoutRow;
    const runId = this.#earlierState.results.findUnmatchedRun?.();
    if (id === undefined && runId === undefined) return undefined;

    const owner = id === undefined ? `run ${runId}` : `row ${JSON.stringify(id)}`;
    return usageError(
      `${out} has a result of ${owner}, which is not in ${sourceName}`,
      'Use the rows that the results were made from, or name another file with --out.',
    );
  }

  #findLostJournalFault({ out, newRows }: BatchOptions, sourceName: string): CliError | undefined {
    if (this.#possiblySentRow === undefined || newRows) return undefined;
    return usageError(
      `${out} has no result of ${describeRow(this.#possiblySentRow, sourceName)}, and the journal is missing, so the row may have been run`,
      'If the rows without a result are new or corrected, add --new-rows.',
    );
  }

  #findChangedRowsFault({ changed }: BatchOptions, sourceName: string): CliError | undefined {
    const [first, ...furtherRows] = this.changedRows.values();
    if (first === undefined || changed !== undefined) return undefined;
    const firstRow = describeRow(first, sourceName);
    const change =
      furtherRows.length === 0
        ? `${firstRow} has changed since it was sent: its`
        : `${firstRow} and ${furtherRows.length} more have changed since they were sent: their`;

    return usageError(
      `${change} inputs, version or options differ`,
      'Add --changed run to run such rows again, or --changed skip to keep their results.',
    );
  }

  async #isChanged(row: SourceRow, sentRow: SentRow): Promise<boolean> {
    if (isFaulty(row) || sentRow.promptVersionId !== this.#batch.promptVersionId) return true;
    return prepareRow(this.#ctx, this.#batch, row).then(
      request => computeRequestDigest(request) !== sentRow.inputsDigest,
      () => true,
    );
  }
}

function describeRow({ id, line }: SourceRow, sourceName: string): string {
  return `row ${JSON.stringify(id)} (${sourceName} line ${line})`;
}

/**
 * Yields the ids that must still have a row. A row that never had a run may have been corrected and
 * have another id.
 */
function* iterateRequiredRowIds({ journal, results }: EarlierState): Generator<string> {
  for (const [id, state] of results.states) {
    if (!madeNoRun(state)) yield id;
  }
  for (const [id, { entry }] of journal.states) {
    if (entry !== undefined) yield id;
  }
}
