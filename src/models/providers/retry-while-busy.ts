import { computeBackoff, PROVIDER_RETRIES } from '../../net/retry-policy.ts';
import type { EngineJob } from '../engine.ts';
import { unwrapProviderFault } from './answers/provider-fault.ts';

/**
 * The effect of a request that a repetition would have twice: `creates` an answer or a batch;
 * `none`, so that network faults and server errors are retried too; or `unknown`, so that only a
 * 429 is retried.
 */
export type RequestEffect = 'creates' | 'none' | 'unknown';

/**
 * Retries up to three times while the provider is busy: after a 429, a 529, or an error that says
 * that it is overloaded and did nothing. Gives up if it asks for more than 60 s, or the quota is
 * used up. Any other fault is retried only if the request has no effect: an answer may have been
 * paid for.
 */
export async function retryWhileBusy<T>(
  { sleep, signal }: Pick<EngineJob, 'sleep' | 'signal'>,
  send: () => Promise<T>,
  effect: RequestEffect = 'creates',
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const retryAfterMs = unwrapProviderFault(error)?.details.retryAfterMs;
      const waitMs = isRetryable(error, effect)
        ? computeBackoff(PROVIDER_RETRIES, { attempt, retryAfterMs })
        : undefined;
      if (waitMs === undefined) throw error;
      await sleep(waitMs, signal);
    }
  }
}

function isRetryable(error: unknown, effect: RequestEffect): boolean {
  const fault = unwrapProviderFault(error);
  // Without a fault of the provider, the network failed.
  if (fault === undefined) return effect === 'none';

  const { status = 0, isQuotaUsedUp = false, isOverloaded = false } = fault.details;
  if (isQuotaUsedUp) return false;
  if (status === 429) return true;
  if (effect === 'none' && status >= 500) return true;
  return effect !== 'unknown' && (status === 529 || isOverloaded);
}
