import path from 'node:path';
import type { Release } from '../../files/writing/lock.ts';
import { toContainedPath } from '../../files/writing/write-below.ts';
import type { Context } from '../context.ts';
import type { RowSource } from '../inputs/rows/row-source.ts';
import { BatchJournal } from '../jobs/batch-journal.ts';
import type { BatchOptions } from './batch-options.ts';
import { type EarlierState, type FirstPass, readRowsOnce } from './first-pass.ts';
import type { PreparedBatch } from './prepare-batch.ts';
import { createJournalPath, lockResults, openResults } from './results/open-results.ts';
import type { ResultsSink } from './results/results-file.ts';

export interface BatchFiles {
  readonly results: ResultsSink;
  readonly journal: BatchJournal;
  readonly releaseLock: Release;
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
  const readFirstPass = async (
    earlierState: EarlierState | undefined,
  ): Promise<FirstPass | undefined> =>
    source.isRepeatable ? readRowsOnce(ctx, source, { batch, options, earlierState }) : undefined;

  if (!options.resume) {
    const firstPass = await readFirstPass(undefined);
    return { ...(await openJournalAndResults(ctx, options)), firstPass };
  }

  const files = await openJournalAndResults(ctx, options);
  const { journal, results, releaseLock } = files;
  try {
    return { ...files, firstPass: await readFirstPass(files) };
  } catch (error) {
    await journal.close();
    await results.close();
    if (isNewJournal(journal)) await journal.remove();
    releaseLock();
    throw error;
  }
}

async function openJournalAndResults(
  ctx: Context,
  options: BatchOptions,
): Promise<Omit<BatchFiles, 'firstPass'>> {
  const { out } = options;
  let journalPath: string;
  let releaseLock: Release = () => {};

  if (out === undefined) {
    journalPath = createJournalPath(ctx);
  } else {
    const resultsPath = path.resolve(ctx.cwd, out);
    journalPath = `${resultsPath}.journal`;
    releaseLock = await lockResults(ctx, resultsPath, out);
  }

  let journal: BatchJournal | undefined;
  try {
    journal = await BatchJournal.open(toContainedPath(journalPath), {
      canResume: out !== undefined,
    });
    if (out === undefined) ctx.io.note(`note: the batch's journal is ${journalPath}`);
    return {
      results: await openResults(ctx, options, journal.states),
      journal,
      releaseLock: releaseLock,
    };
  } catch (error) {
    if (journal !== undefined) await (isNewJournal(journal) ? journal.remove() : journal.close());
    releaseLock();
    throw error;
  }
}

/** Returns true if no earlier invocation has begun the journal. */
export function isNewJournal({ facts }: BatchJournal): boolean {
  return facts === undefined;
}
