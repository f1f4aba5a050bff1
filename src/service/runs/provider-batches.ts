import type { EngineJob, PromptJob } from '../../models/engine.ts';
import type { ModelEntry } from '../../models/model-entry.ts';
import type { BatchAnswer, BatchProvider } from '../../models/provider-batches/batch-provider.ts';
import { createBatchProvider } from '../../models/provider-batches/create-batch-provider.ts';
import { readProviderKey } from '../../models/providers/providers.ts';
import { buildRequest } from '../../models/providers/requests/build-request.ts';
import type { PromptDefinition } from '../../prompts/definition.ts';
import { renderPrompt } from '../../prompts/render/render-prompt.ts';
import type { Env } from '../../utils/env.ts';
import type { CreateRunRequest } from '../../wire/index.ts';
import { SESSION_KEY_ID } from '../core/caller.ts';
import { invalidRequest } from '../core/refusal.ts';
import { UNCOUNTED_MEMORY } from '../core/request-memory.ts';
import { checkCreation, type RunServices } from './create-run.ts';
import { buildPromptRequest } from './execution/engine-job.ts';
import { requireAccess, requireRunnable } from './run-request.ts';

export interface ProviderBatchesOptions {
  readonly services: RunServices;
  readonly userId: number;
  readonly env: Env;
  readonly batchAnswers: Map<string, BatchAnswer>;
  readonly signal: AbortSignal;
}

/** Runs that are answered by provider batches. */
export class ProviderBatches {
  readonly #options: ProviderBatchesOptions;
  readonly #sleep: EngineJob['sleep'];

  constructor(options: ProviderBatchesOptions) {
    this.#options = options;
    this.#sleep = (ms, stopped) => options.services.clock.sleep(ms, stopped);
  }

  /**
   * Returns the batch interface of the provider of a version's model.
   *
   * @throws {Refusal} if the model has no provider, or the provider has no batches or can't be
   * asked
   */
  async getProvider(promptVersionId: string): Promise<BatchProvider> {
    const { services, env } = this.#options;
    const { model } = await requireRunnable(services, promptVersionId);
    const { provider } = model;

    if (model.modality !== 'text') {
      throw invalidRequest(
        `the model ${model.model} makes pictures: only text models can be used in a batch`,
      );
    }

    if (provider?.takesBatches !== true) {
      throw invalidRequest(
        `the model ${model.model} can't be used in a batch: only openai, anthropic, and providers with \`batch: true\` in models.yaml have batches`,
      );
    }

    requireAccess(services, model);
    const key = readProviderKey(provider, env);
    return createBatchProvider({ provider, key, env }, { model, sleep: this.#sleep });
  }

  /**
   * Returns the provider request for a creation, as JSON on one line.
   *
   * @throws {Refusal} as the creation would
   */
  async buildRequest(creation: CreateRunRequest): Promise<Uint8Array> {
    const { services, env } = this.#options;
    const { definition, model } = await requireRunnable(services, creation.promptVersionId);
    const job = await this.#buildJob(creation, definition, model);

    const { provider } = model;
    if (!provider) throw invalidRequest(`the model ${model.model} has no provider`);

    const key = readProviderKey(provider, env);
    const { body } = await buildRequest(job, { provider, key, env });
    return body ?? new Uint8Array();
  }

  /**
   * Makes a creation with this key take the answer instead of asking the provider, until
   * `withdraw`.
   */
  offerAnswer(key: string, answer: BatchAnswer): void {
    this.#options.batchAnswers.set(key, answer);
  }

  withdrawAnswer(key: string): void {
    this.#options.batchAnswers.delete(key);
  }

  async #buildJob(
    creation: CreateRunRequest,
    definition: PromptDefinition,
    model: ModelEntry,
  ): Promise<PromptJob> {
    const { services, userId, signal } = this.#options;
    const caller = { userId, keyId: SESSION_KEY_ID };
    const { run, images } = await checkCreation(services, caller, creation, UNCOUNTED_MEMORY);
    const { textInputs, runOptions } = run.request;
    const prompt = await renderPrompt(
      definition,
      { textInputs, images },
      { render: work => services.tasks.run('render', work, { userId }) },
    );

    const request = buildPromptRequest(definition, model, prompt, runOptions);
    return { ...request, signal, sleep: this.#sleep };
  }
}
