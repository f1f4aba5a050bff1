import progress from 'cli-progress';
import { progressText } from './progress-text.ts';
import type { Tally } from './tally.ts';

const WIDTH = 20;
const SHAPE = {
  barsize: WIDTH,
  barGlue: '',
  barCompleteString: '█'.repeat(WIDTH),
  barIncompleteString: '░'.repeat(WIDTH),
};

/** A bar and how far the batch is, on one line of a terminal. */
export function barText(tally: Tally, elapsedMs: number, columns: number): string {
  const text = progressText(tally, elapsedMs);
  const bar = progress.Format.BarFormat(shareDone(tally), SHAPE);
  return (WIDTH + 1 + text.length < columns ? `${bar} ${text}` : text).slice(0, columns - 1);
}

function shareDone({ done, total }: Tally): number {
  return total === undefined ? 0 : done / Math.max(total, 1);
}
