import path from 'node:path';
import type { Release } from '../../files/writing/lock.ts';
import { toFileBelow } from '../../files/writing/write-below.ts';
import type { Context } from '../context.ts';
import type { RowSource } from '../inputs/rows/row-source.ts';
import { BatchJournal } from '../jobs/batch-journal.ts';
import type { BatchOptions } from './batch-options.ts';
import { type EarlierState, type FirstPass, readRowsOnce } from './first-pass.ts';
import type { PreparedBatch } from './prepare-batch.ts';
import { createJournalPath, lockResults, openResults } from './results/open-results.ts';
import type { ResultsFile } from './results/results-file.ts';

export interface BatchFiles {
  readonly results: ResultsFile;
  readonly journal: BatchJournal;
  readonly release: Release;
  /** undefined if the rows can be read only once. */
  readonly firstPass: FirstPass | undefined;
}

/**
 * Opens the files of a batch. Creates new files only after reading the rows once, so that invalid
 * rows leave no file.
 */
export async function openBatchFiles(
  ctx: Context,
  options: BatchOptions,
  source: RowSource,
  batch: PreparedBatch,
): Promise<BatchFiles> {
  const readRows = async (
    earlierState: EarlierState | undefined,
  ): Promise<FirstPass | undefined> =>
    source.repeatable ? readRowsOnce(ctx, source, { batch, options, earlierState }) : undefined;

  if (!options.resume) {
    const firstPass = await readRows(undefined);
    return { ...(await openJournalAndResults(ctx, options)), firstPass };
  }

  const pair = await openJournalAndResults(ctx, options);
  try {
    return { ...pair, firstPass: await readRows(pair) };
  } catch (error) {
    await pair.journal.close();
    await pair.results.close();
    if (pair.journal.facts === undefined) await pair.journal.remove();
    pair.release();
    throw error;
  }
}

async function openJournalAndResults(
  ctx: Context,
  options: BatchOptions,
): Promise<Omit<BatchFiles, 'firstPass'>> {
  const { out } = options;
  const file = out === undefined ? createJournalPath(ctx) : `${path.resolve(ctx.cwd, out)}.journal`;

  const release =
    out === undefined ? (): void => {} : await lockResults(ctx, path.resolve(ctx.cwd, out), out);
  let journal: BatchJournal | undefined;
  try {
    journal = await BatchJournal.open(toFileBelow(file), { canResume: out !== undefined });
    if (out === undefined) ctx.io.note(`note: the batch's journal is ${file}`);
    return { results: await openResults(ctx, options, journal.states), journal, release };
  } catch (error) {
    await (journal?.facts === undefined ? journal?.remove() : journal.close());
    release();
    throw error;
  }
}
