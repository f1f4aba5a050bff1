import type { Context } from '../context.ts';
import { type CliError, usageError } from '../errors.ts';
import { requestDigest } from '../inputs/request-body.ts';
import { isFaulty, isInShard, type SourceRow } from '../inputs/rows/row.ts';
import { type RowSource, readRows } from '../inputs/rows/source.ts';
import type { BatchJournal } from '../jobs/job-journal.ts';
import { handedRows } from '../jobs/provider-batch/handover.ts';
import type { BatchOptions } from './options.ts';
import { type PreparedBatch, prepareRow, refuseStrayColumns } from './prepare.ts';
import type { Results } from './results/results-line.ts';

/** What a batch is resumed from. */
export interface Before {
  readonly journal: BatchJournal;
  readonly results: Results;
}

/** What was learnt by reading all rows once. */
export type Survey = Awaited<ReturnType<typeof surveyRows>>;

/**
 * Reads the rows once before any is run: counts those of the shard, and compares them with what a batch that is
 * resumed knows of them.
 *
 * @throws {CliError} for what is wrong with the whole source, and for rows that don't go with what is known
 */
export async function surveyRows(
  ctx: Context,
  source: RowSource,
  { batch, options, before }: { batch: PreparedBatch; options: BatchOptions; before: Before | undefined },
) {
  const check = before && new RowCheck(ctx, batch, before);
  let count = 0;
  for await (const row of readRows(source, ctx.signal)) {
    if (row.row === 1) refuseStrayColumns(batch, source, row);
    const isOwn = isInShard(options.shard, row.row);
    if (isOwn) count += 1;
    await check?.take(row, isOwn);
  }
  const fault = check?.fault(options, source.name);
  if (fault !== undefined) throw fault;
  return {
    /** Rows of the shard. */
    count,
    /** Ids of rows whose inputs, version or options are no longer those that were sent. */
    changed: new Set(check?.changed.keys()),
  };
}

class RowCheck {
  readonly changed = new Map<string, SourceRow>();
  readonly #ctx: Context;
  readonly #batch: PreparedBatch;
  readonly #before: Before;
  readonly #handed: ReturnType<typeof handedRows>;
  /** Ids of what is known of no row. */
  readonly #strays: Set<string>;
  /** A row of which it is not known whether it was ever sent, since its journal is gone. */
  #unknown: SourceRow | undefined;

  constructor(ctx: Context, batch: PreparedBatch, before: Before) {
    this.#ctx = ctx;
    this.#batch = batch;
    this.#before = before;
    this.#handed = handedRows(before.journal);
    this.#strays = new Set([...idsThatMatter(before), ...this.#handed.keys()]);
  }

  async take(row: SourceRow, isOwn: boolean): Promise<void> {
    const { journal, results } = this.#before;
    if (journal.facts === undefined) results.recognise?.(row);
    this.#strays.delete(row.id);
    if (await this.#isChanged(row)) this.changed.set(row.id, row);
    const isKnown = journal.facts !== undefined || !results.existed || results.states.has(row.id);
    if (!isKnown && isOwn) this.#unknown ??= row;
  }

  /** What keeps the batch from going on. */
  fault({ out, newRows, changed }: BatchOptions, source: string): CliError | undefined {
    const named = ({ id, line }: SourceRow): string => `row ${JSON.stringify(id)} (${source} line ${line})`;
    const [stray] = this.#strays;
    if (stray !== undefined) {
      return usageError(
        `${out} has a result of row ${JSON.stringify(stray)}, which ${source} does not hold`,
        'give the rows the results were made from, or name another file with --out',
      );
    }
    if (this.#unknown !== undefined && !newRows) {
      return usageError(
        `${out} has no result of ${named(this.#unknown)}, and its journal is not there: the row may have been run`,
        'if the rows without a result are new, add --new-rows',
      );
    }
    const [first, ...more] = this.changed.values();
    if (first === undefined || changed !== undefined) return undefined;
    return usageError(
      `${named(first)}${more.length > 0 ? ` and ${more.length} more are` : ' is'} no longer what was sent: inputs, version or options have changed`,
      'add --changed run to run such rows again, or --changed skip to leave them as they are',
    );
  }

  async #isChanged(row: SourceRow): Promise<boolean> {
    const sent = this.#handed.get(row.id) ?? this.#before.journal.states.get(row.id)?.entry;
    if (sent === undefined) return false;
    if (isFaulty(row) || sent.promptVersionId !== this.#batch.promptVersionId) return true;
    return prepareRow(this.#ctx, this.#batch, row).then(
      request => requestDigest(request) !== sent.inputsDigest,
      () => true,
    );
  }
}

/** A row that never had a run may have been mended, and go by another id now. */
function* idsThatMatter({ journal, results }: Before): Generator<string> {
  for (const [id, { runId, runStatus }] of results.states) {
    if (runId !== undefined || runStatus !== 'failed') yield id;
  }
  for (const [id, { entry }] of journal.states) {
    if (entry !== undefined) yield id;
  }
}
