import type { Context } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';
import type { BatchOptions } from '../options.ts';
import { startProgress } from '../progress/progress.ts';
import { Reporter } from '../progress/reporter.ts';
import { Tally } from '../progress/tally.ts';
import { conclude } from '../report/summary.ts';
import { checkOut, openResultsOf, type Results } from '../results/results-file.ts';
import { openSource, type RowSource, readRows } from '../rows/source.ts';
import { surveyRows } from '../rows/survey.ts';
import { type PreparedBatch, prepareBatch } from './prepare.ts';
import { runRows } from './schedule.ts';
import { Stop } from './stop.ts';

/** Runs a target once for each row of a file, and keeps what became of each. */
export async function runBatch(ctx: Context, options: BatchOptions): Promise<ExitCode> {
  await checkOut(ctx, options);
  const source = await openSource(ctx, options.from, options.format);
  const batch = await prepareBatch(ctx, options);
  if (options.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    return dryRun(ctx, source, batch, options);
  }
  return runAll(ctx, options, source, batch);
}

async function runAll(
  ctx: Context,
  options: BatchOptions,
  source: RowSource,
  batch: PreparedBatch,
): Promise<ExitCode> {
  const { results, count } = await openAll(ctx, options, source);
  const tally = new Tally(count);
  const stop = new Stop();
  const release = stop.listen(ctx, tally);
  const progress = await startProgress(ctx, tally);
  try {
    const report = new Reporter(
      ctx,
      { source: source.name, maxFailures: options.maxFailures },
      { tally, stop },
    );
    const work = { ctx: { ...ctx, signal: stop.dropping }, batch, results, isStopping: stop.isStopping };
    await runRows(readRows(source, stop.reading), { options, work, results, tally, stop, report });
  } finally {
    await progress.stop();
    release();
    await results.close();
  }
  return conclude(ctx, options, { tally, stop, rows: count ?? (stop.isStopping() ? undefined : tally.done) });
}

/** Nothing is left behind where the rows turn out to be unreadable: a new file is made after they were read once. */
async function openAll(
  ctx: Context,
  options: BatchOptions,
  source: RowSource,
): Promise<{ results: Results; count: number | undefined }> {
  const { shard, out, resume } = options;
  const before = resume ? await openResultsOf(ctx, options) : undefined;
  try {
    const count = source.repeatable
      ? await surveyRows(source, { shard, out, states: before?.states ?? new Map(), signal: ctx.signal })
      : undefined;
    return { results: before ?? (await openResultsOf(ctx, options)), count };
  } catch (error) {
    await before?.close();
    throw error;
  }
}
