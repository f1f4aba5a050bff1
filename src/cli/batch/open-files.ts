import path from 'node:path';
import type { Release } from '../../files/lock.ts';
import { fileIn } from '../../files/write-below.ts';
import type { Context } from '../context.ts';
import type { RowSource } from '../inputs/rows/source.ts';
import { BatchJournal } from '../jobs/job-journal.ts';
import type { BatchOptions } from './options.ts';
import type { PreparedBatch } from './prepare-batch.ts';
import { lockResults, openResults, standaloneJournal } from './results/results.ts';
import type { ResultsFile } from './results/results-line.ts';
import { type EarlierState, type Survey, surveyRows } from './survey.ts';

/** The open files of a batch. */
export interface BatchFiles {
  readonly results: ResultsFile;
  readonly journal: BatchJournal;
  readonly release: Release;
  /** undefined if the rows can be read only once. */
  readonly survey: Survey | undefined;
}

/** Opens the files of a batch. Creates new files only after reading the rows once, so that invalid rows leave no file. */
export async function openFiles(
  ctx: Context,
  options: BatchOptions,
  source: RowSource,
  batch: PreparedBatch,
): Promise<BatchFiles> {
  const survey = (before: EarlierState | undefined): Promise<Survey | undefined> =>
    source.repeatable ? surveyRows(ctx, source, { batch, options, before }) : Promise.resolve(undefined);
  if (!options.resume) {
    const surveyed = await survey(undefined);
    return { ...(await openPair(ctx, options)), survey: surveyed };
  }
  const pair = await openPair(ctx, options);
  try {
    return { ...pair, survey: await survey(pair) };
  } catch (error) {
    await pair.journal.close();
    await pair.results.close();
    if (pair.journal.facts === undefined) await pair.journal.remove();
    pair.release();
    throw error;
  }
}

async function openPair(ctx: Context, options: BatchOptions): Promise<Omit<BatchFiles, 'survey'>> {
  const { out } = options;
  const file = out === undefined ? standaloneJournal(ctx) : `${path.resolve(ctx.cwd, out)}.journal`;
  const release =
    out === undefined ? (): void => {} : await lockResults(ctx, path.resolve(ctx.cwd, out), out);
  let journal: BatchJournal | undefined;
  try {
    journal = await BatchJournal.open(fileIn(file));
    if (out === undefined) ctx.io.note(`note: the batch's journal is ${file}`);
    return { results: await openResults(ctx, options, journal.states), journal, release };
  } catch (error) {
    await (journal?.facts === undefined ? journal?.remove() : journal.close());
    release();
    throw error;
  }
}
