import path from 'node:path';
import type { Release } from '../../files/lock.ts';
import { fileIn } from '../../files/write-below.ts';
import type { Context } from '../context.ts';
import type { RowSource } from '../inputs/rows/source.ts';
import { BatchJournal } from '../jobs/job-journal.ts';
import type { BatchOptions } from './options.ts';
import type { PreparedBatch } from './prepare.ts';
import { holdResults, journalAside, openResults } from './results/results.ts';
import type { Results } from './results/results-line.ts';
import { type Before, type Survey, surveyRows } from './survey.ts';

/** The files of a batch, open. */
export interface BatchFiles {
  readonly results: Results;
  readonly journal: BatchJournal;
  readonly release: Release;
  /** undefined where the rows can be read only once. */
  readonly survey: Survey | undefined;
}

/** Nothing is left behind where the rows turn out to be unreadable: new files are made after they were read once. */
export async function openFiles(
  ctx: Context,
  options: BatchOptions,
  source: RowSource,
  batch: PreparedBatch,
): Promise<BatchFiles> {
  const survey = (before: Before | undefined): Promise<Survey | undefined> =>
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
  const file = out === undefined ? journalAside(ctx) : `${path.resolve(ctx.cwd, out)}.journal`;
  const release =
    out === undefined ? (): void => {} : await holdResults(ctx, path.resolve(ctx.cwd, out), out);
  let journal: BatchJournal | undefined;
  try {
    journal = await BatchJournal.open(fileIn(file));
    if (out === undefined) ctx.io.note(`note: the journal of this batch is ${file}`);
    return { results: await openResults(ctx, options, journal.states), journal, release };
  } catch (error) {
    await (journal?.facts === undefined ? journal?.remove() : journal.close());
    release();
    throw error;
  }
}
