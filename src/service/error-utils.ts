import type { Clock } from './clock.ts';

/** What was thrown, in words; nothing makes a library throw errors only. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What was thrown as an error, whatever it was. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The code by which Node tells its errors apart, such as `ENOENT`; undefined where it is none of them. */
export function codeOf(thrown: unknown): string | undefined {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

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
