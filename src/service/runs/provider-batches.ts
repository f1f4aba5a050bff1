import type { EngineJob, PromptJob } from '../../models/engine.ts';
import { anthropicBatches } from '../../models/provider-batches/anthropic-batches.ts';
import {
  type BatchAnswer,
  BatchFault,
  type BatchProvider,
} from '../../models/provider-batches/batch-provider.ts';
import { openAiBatches } from '../../models/provider-batches/openai-batches.ts';
import { explainFault } from '../../models/providers/explain-fault.ts';
import type { ProviderAccess } from '../../models/providers/provider-access.ts';
import { readProviderKey } from '../../models/providers/providers.ts';
import { buildRequest } from '../../models/providers/requests/build-request.ts';
import { type RequestEffect, retryWhileBusy } from '../../models/providers/retry-while-busy.ts';
import { renderPrompt } from '../../prompts/render/render-prompt.ts';
import type { Env } from '../../utils/env.ts';
import type { CreateRunRequest } from '../../wire/index.ts';
import { SESSION_KEY_ID } from '../core/caller.ts';
import { invalidRequest } from '../core/refusal.ts';
import { UNCOUNTED } from '../core/request-memory.ts';
import { checkedRun, type RunServices } from './create-run.ts';
import { promptRequest } from './engine-job.ts';
import { requireAccess, requireRunnable } from './run-request.ts';

/** Runs that are answered by provider batches. */
export type ProviderBatches = ReturnType<typeof createProviderBatches>;

export interface ProviderBatchesOptions {
  readonly services: RunServices;
  readonly userId: number;
  readonly env: Env;
  readonly answers: Map<string, BatchAnswer>;
  readonly signal: AbortSignal;
}

export function createProviderBatches(options: ProviderBatchesOptions) {
  const { services, userId, env, answers, signal } = options;
  const sleep: EngineJob['sleep'] = (ms, stopped) => services.clock.sleep(ms, stopped);
  return {
    /**
     * Returns the batch interface of the provider of a version's model.
     *
     * @throws {Refusal} if the model has no provider, or the provider has no batches or can't be asked
     */
    async of(promptVersionId: string): Promise<BatchProvider> {
      const { model } = await requireRunnable(services, promptVersionId);
      const { provider } = model;
      if (model.modality !== 'text') {
        throw invalidRequest(
          `the model ${model.model} makes pictures: only text models can be used in a batch`,
        );
      }
      if (provider?.batch !== true) {
        throw invalidRequest(
          `the model ${model.model} can't be used in a batch: only openai, anthropic, and providers with \`batch: true\` in models.yaml have batches`,
        );
      }
      requireAccess(services, model);
      const access = { provider, key: readProviderKey(provider, env), env };
      const batches = provider.engine === 'anthropic' ? anthropicBatches(access) : openAiBatches(access);
      return retryPatiently(batches, access, { model, sleep });
    },
    /** Returns the provider request for a creation, as JSON on one line. @throws {Refusal} as the creation would */
    async prepare(creation: CreateRunRequest): Promise<Uint8Array> {
      const { definition, model } = await requireRunnable(services, creation.promptVersionId);
      const { run, images } = await checkedRun(
        services,
        { userId, keyId: SESSION_KEY_ID },
        creation,
        UNCOUNTED,
      );
      const { textInputs, runOptions } = run.request;
      const prompt = await renderPrompt(definition, { textInputs, images }, work =>
        services.tasks.do('render', work, { userId }),
      );
      const job: PromptJob = { ...promptRequest(definition, model, prompt, runOptions), signal, sleep };
      const { provider } = model;
      if (!provider) throw invalidRequest(`the model ${model.model} has no provider`);
      const { body } = await buildRequest(job, { provider, key: readProviderKey(provider, env), env });
      return body ?? new Uint8Array();
    },
    /** Makes a creation with this key take the answer instead of asking the provider, until `withdraw`. */
    offer: (key: string, answer: BatchAnswer) => void answers.set(key, answer),
    withdraw: (key: string) => void answers.delete(key),
  };
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
    look: (id, signal) => ask(signal, 'none', () => batches.look(id, signal)),
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
