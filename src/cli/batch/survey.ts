import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { requestDigest } from '../inputs/request-body.ts';
import type { BatchOptions } from './options.ts';
import { type PreparedBatch, prepareRow, refuseStrayColumns } from './prepare.ts';
import { handedRows } from './provider-batch/handed-over.ts';
import type { Results } from './results/results-line.ts';
import { isFaulty, isInShard, type SourceRow } from './rows/row.ts';
import { type RowSource, readRows } from './rows/source.ts';
import type { BatchJournal } from './run/job-journal.ts';

/** What a batch is resumed from. */
export interface Before {
  readonly journal: BatchJournal;
  readonly results: Results;
}

/** What was learnt by reading all rows once. */
export interface Survey {
  /** Rows of the shard. */
  readonly count: number;
  /** Ids of rows whose inputs, version or options are no longer those that were sent. */
  readonly changed: ReadonlySet<string>;
}

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
): Promise<Survey> {
  const check = before === undefined ? undefined : new RowCheck(ctx, { batch, options, before, source });
  let count = 0;
  for await (const row of readRows(source, ctx.signal)) {
    if (row.row === 1) refuseStrayColumns(batch, source, row);
    if (isInShard(options.shard, row.row)) count += 1;
    await check?.take(row);
  }
  return { count, changed: check?.conclude() ?? new Set() };
}

type CheckParts = { batch: PreparedBatch; options: BatchOptions; before: Before; source: RowSource };

class RowCheck {
  readonly #ctx: Context;
  readonly #parts: CheckParts;
  readonly #strays: Set<string>;
  readonly #handed: ReturnType<typeof handedRows>;
  readonly #changed = new Map<string, SourceRow>();
  #unknown: SourceRow | undefined;

  constructor(ctx: Context, parts: CheckParts) {
    this.#ctx = ctx;
    this.#parts = parts;
    this.#handed = handedRows(parts.before.journal);
    this.#strays = new Set([...idsThatMatter(parts.before), ...this.#handed.keys()]);
  }

  async take(row: SourceRow): Promise<void> {
    const { journal, results } = this.#parts.before;
    if (journal.facts === undefined) results.recognise?.(row);
    this.#strays.delete(row.id);
    if (await this.#isChanged(row)) this.#changed.set(row.id, row);
    const isKnown = journal.facts !== undefined || !results.existed || results.states.has(row.id);
    if (!isKnown && isInShard(this.#parts.options.shard, row.row)) this.#unknown ??= row;
  }

  conclude(): Set<string> {
    const { options, source } = this.#parts;
    const [stray] = this.#strays;
    if (stray !== undefined) {
      throw usageError(
        `${options.out} has a result of row ${JSON.stringify(stray)}, which ${source.name} does not hold`,
        'give the rows the results were made from, or name another file with --out',
      );
    }
    this.#refuseUnknown();
    this.#refuseChanged();
    return new Set(this.#changed.keys());
  }

  /** Without its journal it is not known whether a row that has no result was ever sent. */
  #refuseUnknown(): void {
    const { options, source } = this.#parts;
    if (this.#unknown === undefined || options.newRows) return;
    throw usageError(
      `${options.out} has no result of row ${JSON.stringify(this.#unknown.id)} (${source.name} line ${this.#unknown.line}), and its journal is not there: the row may have been run`,
      'if the rows without a result are new, add --new-rows',
    );
  }

  #refuseChanged(): void {
    const { options, source } = this.#parts;
    const [first] = this.#changed.values();
    if (first === undefined || options.changed !== undefined) return;
    const more = this.#changed.size - 1;
    throw usageError(
      `row ${JSON.stringify(first.id)} (${source.name} line ${first.line})${more > 0 ? ` and ${more} more are` : ' is'} no longer what was sent: inputs, version or options have changed`,
      'add --changed run to run such rows again, or --changed skip to leave them as they are',
    );
  }

  async #isChanged(row: SourceRow): Promise<boolean> {
    const { batch, before } = this.#parts;
    const sent = this.#handed.get(row.id) ?? before.journal.states.get(row.id)?.entry;
    if (sent === undefined) return false;
    if (isFaulty(row) || sent.promptVersionId !== batch.promptVersionId) return true;
    try {
      return requestDigest(await prepareRow(this.#ctx, batch, row)) !== sent.inputsDigest;
    } catch {
      return true;
    }
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
