import type { Cell, Paint } from '../terminal/table.ts';
import type { TerminalContext } from '../terminal/terminal-context.ts';

/** Returns a cell with a run's status in its colour; an unknown status stays plain. */
export function formatRunStatus(ctx: Pick<TerminalContext, 'io'>, status: string): Cell {
  const paint = findStatusPaint(ctx, status);
  return paint === undefined ? status : { text: status, paint };
}

/** Returns the colour of a run's status; undefined for an unknown one. */
export function findStatusPaint(
  { io: { paint } }: Pick<TerminalContext, 'io'>,
  status: string,
): Paint | undefined {
  const paints = new Map<string, Paint>([
    ['succeeded', paint.green],
    ['failed', paint.red],
    ['running', paint.yellow],
    ['queued', paint.cyan],
  ]);
  return paints.get(status);
}
