import { formatNumber } from '../../utils/grouped-digits.ts';
import { LimitExceeded } from '../../utils/limit-exceeded.ts';
import type { DiffPart } from '../checks/check-tasks.ts';
import type { Context } from '../context.ts';

const FIRST_LINES = 50;

/**
 * Returns the differences of two texts; if more than 2,000 lines differ or it takes too long, their
 * number and the first 50.
 */
export async function computeDifferences(
  ctx: Pick<Context, 'checks'>,
  oldText: string,
  newText: string,
  by: 'words' | 'lines',
): Promise<DiffPart[]> {
  const checks = await ctx.checks();
  const parts = await checks
    .perform('differences', oldText, newText, by)
    .catch((error: unknown) => {
      if (error instanceof LimitExceeded) return undefined;
      throw error;
    });
  return parts ?? summariseDifferences(oldText, newText);
}

/** Compares line by line, between the common beginning and the common end of the texts. */
function summariseDifferences(oldText: string, newText: string): DiffPart[] {
  const removed = oldText.split('\n');
  const added = newText.split('\n');
  while (removed.length > 0 && added.length > 0 && removed.at(-1) === added.at(-1)) {
    removed.pop();
    added.pop();
  }

  const differingLines = Array.from(
    { length: Math.max(removed.length, added.length) },
    (_, index) => index,
  ).filter(line => removed[line] !== added[line]);
  const note = `${formatNumber(differingLines.length)} lines differ; the first ${FIRST_LINES}:\n`;
  const shownParts = differingLines
    .slice(0, FIRST_LINES)
    .flatMap((line): DiffPart[] => [
      ...(line < removed.length ? [{ kind: 'removed', text: `${removed[line]}\n` } as const] : []),
      ...(line < added.length ? [{ kind: 'added', text: `${added[line]}\n` } as const] : []),
    ]);
  return [{ kind: 'note', text: note }, ...shownParts];
}
