import type { Clock } from './clock.ts';
import { messageOf } from './thrown.ts';

/** How long the same fault is not told of again, in milliseconds. */
const QUIET_MS = 60_000;

/** Tells of faults in one line each; one that goes on and on is told of once a minute. */
export function faultReporter(onNotice: (line: string) => void, clock: Clock): (error: unknown) => void {
  const told = new Map<string, number>();
  return error => {
    const message = messageOf(error);
    const last = told.get(message);
    if (last !== undefined && clock.now() - last < QUIET_MS) return;
    if (told.size > 100) told.clear();
    told.set(message, clock.now());
    onNotice(`fault: ${message}`);
  };
}
