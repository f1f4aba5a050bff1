import type { EngineJob } from '../engine.ts';

const TRIES = 3;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Asks again where the provider refused because it is busy (429). After any other fault an answer may have been made,
 * and paid for, so it is never asked twice.
 */
export async function againIfBusy<T>(job: EngineJob, ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = waitAskedFor(error) ?? FIRST_WAIT_MS * 2 ** (tried - 1);
      if (!isBusy(error) || tried === TRIES || waitMs > LONGEST_WAIT_MS) throw error;
      await job.sleep(waitMs, job.signal);
    }
  }
}

function isBusy(error: unknown): error is Error & { headers?: unknown } {
  return error instanceof Error && 'status' in error && error.status === 429;
}

/** In milliseconds; undefined where the provider did not say. */
function waitAskedFor(error: unknown): number | undefined {
  if (!isBusy(error) || !(error.headers instanceof Headers)) return undefined;
  const milliseconds = Number.parseFloat(error.headers.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const seconds = Number.parseFloat(error.headers.get('retry-after') ?? '');
  return seconds >= 0 ? seconds * 1000 : undefined;
}
