import type { Context } from '../context.ts';
import type { Cell } from './table.ts';

/** A run's status in the colour it has everywhere; one that is not known stays plain. */
export function runStatusCell({ io: { paint } }: Pick<Context, 'io'>, status: string): Cell {
  const paints = new Map<string, (text: string) => string>([
    ['succeeded', paint.green],
    ['failed', paint.red],
    ['running', paint.yellow],
    ['queued', paint.cyan],
  ]);
  const colour = paints.get(status);
  return colour === undefined ? status : { text: status, paint: colour };
}
