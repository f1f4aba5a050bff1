import type { Clock } from './clock.ts';

/** Message of a thrown value, which may not be an Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A thrown value as an Error, which it may not be. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The code by which Node distinguishes its errors, such as `ENOENT`; undefined for any other error. */
export function codeOf(thrown: unknown): string | undefined {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** How long the same fault is not reported again, in milliseconds. */
const QUIET_MS = 60_000;

/** Reports faults in one line each; one that goes on and on is reported once a minute. */
export function faultReporter(onNotice: (line: string) => void, clock: Clock): (error: unknown) => void {
  const reportedAt = new Map<string, number>();
  return error => {
    const message = messageOf(error);
    const last = reportedAt.get(message);
    if (last !== undefined && clock.now() - last < QUIET_MS) return;
    if (reportedAt.size > 100) reportedAt.clear();
    reportedAt.set(message, clock.now());
    onNotice(`fault: ${message}`);
  };
}
