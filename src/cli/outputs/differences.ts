import { formatNumber } from '../../utils/format-number.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import type { DiffPart } from '../checks/check-tasks.ts';
import type { Context } from '../context.ts';

/** Number of differing lines to show if not all are compared. */
const MAX_SHOWN_LINES = 50;

/**
 * Returns the differences of two texts; if more than 2,000 lines differ or it takes too long, their
 * number and the first 50.
 */
export async function computeDifferences(
  ctx: Pick<Context, 'checks'>,
  oldText: string,
  newText: string,
  unit: 'words' | 'lines',
): Promise<DiffPart[]> {
  const checks = await ctx.checks();
  const parts = await checks
    .perform('compareTexts', oldText, newText, unit)
    .catch((error: unknown) => {
      if (error instanceof LimitExceededError) return undefined;
      throw error;
    });
  return parts ?? summariseDifferences(oldText, newText);
}

/** Compares line by line, between the common beginning and the common end of the texts. */
function summariseDifferences(oldText: string, newText: string): DiffPart[] {
  const oldLines = oldText.split('\n');
  const newLines = newText.split('\n');
  while (oldLines.length > 0 && newLines.length > 0 && oldLines.at(-1) === newLines.at(-1)) {
    oldLines.pop();
    newLines.pop();
  }

  const differingLines = Array.from(
    { length: Math.max(oldLines.length, newLines.length) },
    (_, index) => index,
  ).filter(line => oldLines[line] !== newLines[line]);
  const summary = `${formatNumber(differingLines.length)} lines differ; the first ${MAX_SHOWN_LINES}:\n`;
  const shownParts = differingLines
    .slice(0, MAX_SHOWN_LINES)
    .flatMap((line): DiffPart[] => [
      ...(line < oldLines.length
        ? [{ kind: 'removed', text: `${oldLines[line]}\n` } as const]
        : []),
      ...(line < newLines.length ? [{ kind: 'added', text: `${newLines[line]}\n` } as const] : []),
    ]);
  return [{ kind: 'note', text: summary }, ...shownParts];
}
