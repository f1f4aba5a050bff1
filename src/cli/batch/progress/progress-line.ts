import type { Context } from '../../context.ts';
import { createSteadyTime } from '../../core/clock.ts';
import { canAnimate, formatElapsed, startSpinner } from '../../terminal/spinner.ts';
import type { RowTally } from './row-tally.ts';

/** The interval of progress lines without a terminal, in milliseconds. */
const LINE_INTERVAL_MS = 10_000;

/**
 * Shows the progress of a batch: as a bar on a terminal, else, or if motion is unwanted, as a line
 * every 10 s. Shows nothing with `--quiet`.
 *
 * @param hasLines false if a provider's batches report their own progress
 * @returns a function that resolves once nothing more is shown
 */
export function startBatchProgress(
  ctx: Context,
  tally: RowTally,
  { hasLines }: { readonly hasLines: boolean },
): () => Promise<void> {
  if (ctx.globals.quiet) return async () => {};

  const now = createSteadyTime(ctx.clock);
  const startedAt = now();
  const getElapsedMs = (): number => now() - startedAt;

  if (canAnimate(ctx)) {
    const stop = startSpinner(
      ctx,
      () => formatBar(tally, getElapsedMs(), ctx.io.stderr.columns),
      0,
    );
    return async () => stop();
  }

  if (!hasLines) return async () => {};

  const progressStopped = new AbortController();
  const printLines = async (): Promise<void> => {
    while (!progressStopped.signal.aborted) {
      await ctx.clock.sleep(LINE_INTERVAL_MS, progressStopped.signal);
      ctx.io.note(formatTally(tally, getElapsedMs()));
    }
  };

  const printing = printLines().catch(() => {});
  return () => {
    progressStopped.abort();
    return printing;
  };
}

/** Returns the progress as one line: done, failed, rate and time left. */
export function formatTally(
  { rowCount, doneCount, endedCount, failedCount }: RowTally,
  elapsedMs: number,
): string {
  const facts = [
    `${doneCount}${rowCount === undefined ? '' : ` of ${rowCount}`} done`,
    `${failedCount} failed`,
  ];
  if (endedCount > 0) facts.push(formatSpeed(endedCount / (elapsedMs / 1000)));
  if (endedCount > 0 && rowCount !== undefined) {
    const leftCount = Math.max(0, rowCount - doneCount);
    facts.push(`${formatElapsed((elapsedMs / endedCount) * leftCount)} left`);
  }
  return facts.join(', ');
}

/** Returns a rate as rows per second, or per minute if it is below one per second. */
export function formatSpeed(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '0/s';
  return perSecond < 0.95
    ? `${formatOneDigit(perSecond * 60)}/min`
    : `${formatOneDigit(perSecond)}/s`;
}

function formatOneDigit(value: number): string {
  return value >= 9.95 ? String(Math.round(value)) : value.toFixed(1);
}

const PROGRESS_BAR_WIDTH = 20;

/** Number of columns that the spinner takes before the text. */
const SPINNER_WIDTH = 2;

/** Returns a bar and the progress as one line of a terminal. */
export function formatBar(tally: RowTally, elapsedMs: number, columns: number): string {
  const share = tally.rowCount === undefined ? 0 : tally.doneCount / Math.max(tally.rowCount, 1);
  const filledWidth = Math.round(share * PROGRESS_BAR_WIDTH);
  const bar = '█'.repeat(filledWidth) + '░'.repeat(PROGRESS_BAR_WIDTH - filledWidth);
  const text = formatTally(tally, elapsedMs);
  const maxLength = columns - SPINNER_WIDTH - 1;
  const line = `${bar} ${text}`;
  return line.length <= maxLength ? line : text.slice(0, maxLength);
}
