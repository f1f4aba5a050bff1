import type { EngineJob } from '../engine.ts';
import { explainFault } from '../providers/explain-fault.ts';
import type { ProviderAccess } from '../providers/provider-access.ts';
import { type RequestEffect, retryWhileBusy } from '../providers/retry-while-busy.ts';
import { AnthropicBatches } from './anthropic-batches.ts';
import {
  type BatchAnswer,
  BatchFault,
  type BatchProvider,
  type BatchRequest,
  type BatchSearch,
  type BatchState,
  type Upload,
} from './batch-provider.ts';
import { OpenAiBatches } from './openai-batches.ts';

type BatchContext = Pick<EngineJob, 'model' | 'sleep'>;

/** Returns the batch interface of a provider, which retries and explains faults. */
export function createBatchProvider(access: ProviderAccess, context: BatchContext): BatchProvider {
  // All others have the interface of OpenAI.
  const isAnthropic = access.provider.interfaceName === 'anthropic';
  return new RetryingBatches(
    isAnthropic ? new AnthropicBatches(access) : new OpenAiBatches(access),
    access,
    context,
  );
}

/**
 * Retries while the provider is busy, and after any temporary fault if a retry can't create
 * anything twice.
 */
class RetryingBatches implements BatchProvider {
  readonly name: string;
  readonly endpoint: string;
  readonly limits: BatchProvider['limits'];
  readonly #batches: BatchProvider;
  readonly #access: ProviderAccess;
  readonly #context: BatchContext;

  constructor(batches: BatchProvider, access: ProviderAccess, context: BatchContext) {
    this.name = batches.name;
    this.endpoint = batches.endpoint;
    this.limits = batches.limits;
    this.#batches = batches;
    this.#access = access;
    this.#context = context;
  }

  async create(
    requests: readonly BatchRequest[],
    batchKey: string,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<string> {
    return await this.#retry('creates', signal, () =>
      this.#batches.create(requests, batchKey, upload, signal),
    );
  }

  async find(search: BatchSearch, signal: AbortSignal): ReturnType<BatchProvider['find']> {
    return await this.#retry('none', signal, () => this.#batches.find(search, signal));
  }

  async readState(id: string, signal: AbortSignal): Promise<BatchState> {
    return await this.#retry('none', signal, () => this.#batches.readState(id, signal));
  }

  /** Starts over after a fault, so results may be yielded twice. */
  async *collect(
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ customId: string; answer: BatchAnswer }, void> {
    let answers = this.#batches.collect(id, signal);
    const readNext = async () => {
      try {
        return await answers.next();
      } catch (error) {
        answers = this.#batches.collect(id, signal);
        throw error;
      }
    };
    try {
      let next = await this.#retry('none', signal, readNext);
      while (!next.done) {
        yield next.value;
        next = await this.#retry('none', signal, readNext);
      }
    } finally {
      await answers.return(undefined);
    }
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.#retry('none', signal, () => this.#batches.cancel(id, signal));
  }

  async #retry<T>(
    effect: RequestEffect,
    signal: AbortSignal,
    request: () => Promise<T>,
  ): Promise<T> {
    const { model, sleep } = this.#context;
    try {
      return await retryWhileBusy({ sleep, signal }, request, effect);
    } catch (error) {
      signal.throwIfAborted();
      const { message, status } = await explainFault(
        error,
        { model, signal, resource: 'batches' },
        this.#access,
      );
      throw new BatchFault(message, status, error);
    }
  }
}
