import type { EngineJob } from '../engine.ts';
import { explainFault } from '../providers/explain-fault.ts';
import type { ProviderAccess } from '../providers/provider-access.ts';
import { type RequestEffect, retryWhileBusy } from '../providers/retry-while-busy.ts';
import { anthropicBatches } from './anthropic-batches.ts';
import { BatchFault, type BatchProvider } from './batch-provider.ts';
import { openAiBatches } from './openai-batches.ts';

/** Returns the batch interface of a provider, which retries and explains faults. */
export function openBatches(access: ProviderAccess, job: Pick<EngineJob, 'model' | 'sleep'>): BatchProvider {
  const isAnthropic = access.provider.engine === 'anthropic';
  return retryPatiently(isAnthropic ? anthropicBatches(access) : openAiBatches(access), access, job);
}

/** Retries while the provider is busy, and after any temporary fault if a retry can't create anything twice. */
function retryPatiently(
  batches: BatchProvider,
  access: ProviderAccess,
  { model, sleep }: Pick<EngineJob, 'model' | 'sleep'>,
): BatchProvider {
  const ask = async <T>(
    signal: AbortSignal,
    effect: RequestEffect,
    request: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await retryWhileBusy({ sleep, signal }, request, effect);
    } catch (error) {
      signal.throwIfAborted();
      const { message, status } = await explainFault(error, { model, signal, use: 'batches' }, access);
      throw new BatchFault(message, status, error);
    }
  };
  return {
    ...batches,
    create: (requests, key, upload, signal) =>
      ask(signal, 'creates', () => batches.create(requests, key, upload, signal)),
    find: (wanted, signal) => ask(signal, 'none', () => batches.find(wanted, signal)),
    readState: (id, signal) => ask(signal, 'none', () => batches.readState(id, signal)),
    cancel: (id, signal) => ask(signal, 'none', () => batches.cancel(id, signal)),
    /** Yields results again that were yielded before a fault. */
    async *collect(id, signal) {
      let answers = batches.collect(id, signal);
      try {
        for (;;) {
          const { done, value } = await ask(signal, 'none', () =>
            answers.next().catch((error: unknown) => {
              answers = batches.collect(id, signal);
              throw error;
            }),
          );
          if (done) return;
          yield value;
        }
      } finally {
        await answers.return(undefined);
      }
    },
  };
}
