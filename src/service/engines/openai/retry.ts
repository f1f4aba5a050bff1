import type { EngineJob } from '../engine.ts';
import { providerFaultIn } from './fault.ts';

const RETRIES = 3;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Asks again, up to three times, where the provider refused because it is busy (429): not where it wants more than 60 s,
 * nor where the quota is used up. After any other fault an answer may have been made and paid for, so it is never asked twice.
 */
export async function retryWhileBusy<T>(
  { sleep, signal }: Pick<EngineJob, 'sleep' | 'signal'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = retries === RETRIES ? undefined : waitBeforeRetry(error, FIRST_WAIT_MS * 2 ** retries);
      if (waitMs === undefined) throw error;
      await sleep(waitMs, signal);
    }
  }
}

/** In milliseconds; undefined where asking again is no use. */
function waitBeforeRetry(error: unknown, otherwise: number): number | undefined {
  const { status, quotaUsedUp, retryAfterMs = otherwise } = providerFaultIn(error)?.more ?? {};
  return status === 429 && quotaUsedUp !== true && retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined;
}
