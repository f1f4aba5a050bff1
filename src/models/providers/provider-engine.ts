import type { Env } from '../../utils/env.ts';
import {
  createFailedResult,
  type Engine,
  type EngineJob,
  type EngineOutput,
  type EngineResult,
  estimateTokens,
} from '../engine.ts';
import type { ModelEntry, OptionName, Provider } from '../model-entry.ts';
import type { PrivateRules } from '../outgoing/fetch-image.ts';
import type { HttpAnswer } from '../outgoing/open-http.ts';
import { createCharacterListener, readAnswer } from './answers/answer-body.ts';
import { awaitDrawing } from './answers/await-drawing.ts';
import { fetchAnswerImages } from './answers/fetch-answer-images.ts';
import { CHAT } from './answers/formats/chat.ts';
import { MESSAGES } from './answers/formats/messages.ts';
import { RESPONSES } from './answers/formats/responses.ts';
import { type AnswerFormat, ModelAnswer } from './answers/model-answer.ts';
import { ProviderFault } from './answers/provider-fault.ts';
import { listRefusedOptions } from './answers/refused-option.ts';
import { explainFault } from './explain-fault.ts';
import type { ProviderAccess } from './provider-access.ts';
import { readProviderKey } from './providers.ts';
import { buildRequest } from './requests/build-request.ts';
import type { BuiltRequest } from './requests/built-request.ts';
import { retryWhileBusy } from './retry-while-busy.ts';
import { sendToProvider } from './send-request.ts';

/**
 * Maximum time for an answer with all waits, in milliseconds. Reasoning, drawing and flex are slow.
 */
const PROVIDER_TIMEOUT_MS = 10 * 60_000;
const FLEX_TIMEOUT_MS = 20 * 60_000;

/**
 * Returns the engine for all providers. It loads the client of an interface at the first run, and
 * reads keys at each run.
 */
export function createProviderEngine(
  env: Env,
  { timeoutMs, privateRules }: { timeoutMs?: number; privateRules?: PrivateRules | undefined } = {},
): Required<Pick<Engine, 'run' | 'readBatchAnswer'>> {
  const refusedOptionsByModel = new RefusedOptionsByModel();
  return {
    async run(job) {
      const { provider } = job.model;
      if (!provider) return createFailedResult(`the model ${job.model.model} has no provider`);

      const key = readProviderKey(provider, env);
      if (key === undefined && provider.needsKey) return createMissingKeyResult(provider);

      const isFlex = job.runOptions['serviceTier'] === 'flex';
      const defaultTimeoutMs = isFlex ? FLEX_TIMEOUT_MS : PROVIDER_TIMEOUT_MS;
      const access = { provider, key, env, privateRules, traceparent: job.traceparent };
      return await new ProviderRun(job, access, timeoutMs ?? defaultTimeoutMs).ask(
        refusedOptionsByModel,
      );
    },

    async readBatchAnswer(job, body) {
      const { provider } = job.model;
      if (!provider) return createFailedResult(`the model ${job.model.model} has no provider`);

      const access = { provider, key: readProviderKey(provider, env), env, privateRules };
      return await new ProviderRun(job, access, PROVIDER_TIMEOUT_MS).read(body);
    },
  };
}

function createMissingKeyResult({ name, keyVariables }: Provider): EngineResult {
  const message = `no key for ${name}: set ${keyVariables.join(' or ')}`;
  const publicMessage = `the service has no key for ${name}`;
  return {
    ...createFailedResult(message, publicMessage),
    isRefused: true,
    fault: 'unauthorised',
  };
}

/** The options that models refused, for the lifetime of the engine. */
class RefusedOptionsByModel {
  readonly #options = new Map<string, ReadonlySet<OptionName>>();

  get(model: ModelEntry): ReadonlySet<OptionName> {
    return this.#options.get(getEntryKey(model)) ?? new Set();
  }

  add(model: ModelEntry, options: readonly OptionName[]): void {
    this.#options.set(getEntryKey(model), new Set([...this.get(model), ...options]));
  }
}

function getEntryKey({ model, id = model, provider }: ModelEntry): string {
  return `${provider?.name}/${id}`;
}

/** A run of a prompt. Keeps the partial answer if the rest fails. */
class ProviderRun {
  readonly #job: EngineJob;
  readonly #access: ProviderAccess;
  readonly #timeoutMs: number;
  readonly #timeout: AbortSignal;
  readonly #signal: AbortSignal;
  #warnings: string[] = [];
  #answer: ModelAnswer | undefined;

  constructor(job: EngineJob, access: ProviderAccess, timeoutMs: number) {
    this.#job = job;
    this.#access = access;
    this.#timeoutMs = timeoutMs;
    this.#timeout = AbortSignal.timeout(timeoutMs);
    this.#signal = AbortSignal.any([job.signal, this.#timeout]);
  }

  ask(refusedOptionsByModel: RefusedOptionsByModel): Promise<EngineResult> {
    return this.#toResult(async () => {
      const { request, response } = await this.#send(refusedOptionsByModel);
      const expectsImage = this.#job.model.modality === 'image';
      const { answerFormat, hasJsonTool, keepsToolCalls } = request;
      const answer = new ModelAnswer(answerFormat, {
        hasJsonTool,
        keepsToolCalls,
        expectsImage,
      });
      this.#answer = answer;
      await readAnswer(response, answer, createCharacterListener(this.#job.onText));

      const { resultUrl, headers } = request;
      if (resultUrl) {
        await awaitDrawing({ resultUrl, headers }, answer, this.#access, this.#getRetrySettings());
      }

      if (request.refusableOptions.has('n')) {
        this.#warnAboutMissingAnswers(expectsImage ? answer.images.length : answer.texts.length);
      }

      return answer;
    });
  }

  read(body: Record<string, unknown>): Promise<EngineResult> {
    return this.#toResult(async () => {
      const request = await this.#build();
      const answer = new ModelAnswer(findAnswerFormat(body) ?? request.answerFormat, {
        hasJsonTool: this.#job.json !== undefined,
        keepsToolCalls: request.keepsToolCalls,
      });
      this.#answer = answer;
      answer.add(body);

      return answer;
    });
  }

  /**
   * Sends the request; if the provider refuses some options, which costs nothing, sends it once
   * more without them.
   */
  async #send(
    refusedOptionsByModel: RefusedOptionsByModel,
  ): Promise<{ request: BuiltRequest; response: HttpAnswer }> {
    const { model } = this.#job;
    const request = await this.#build(refusedOptionsByModel.get(model));
    try {
      return { request, response: await this.#sendWhileBusy(request) };
    } catch (error) {
      const options =
        error instanceof ProviderFault ? listRefusedOptions(error, request.refusableOptions) : [];
      if (options.length === 0) throw error;

      refusedOptionsByModel.add(model, options);
      const reducedRequest = await this.#build(refusedOptionsByModel.get(model));
      return { request: reducedRequest, response: await this.#sendWhileBusy(reducedRequest) };
    }
  }

  async #build(refusedOptions?: ReadonlySet<OptionName>): Promise<BuiltRequest> {
    const request = await buildRequest(this.#job, this.#access, refusedOptions);
    this.#warnings = [...request.warnings];
    return request;
  }

  /** Warns if there are fewer answers than requested: some servers ignore `n` silently. */
  #warnAboutMissingAnswers(count: number): void {
    const { model, runOptions } = this.#job;
    const requestedCount = Number(runOptions['n']);
    if (count === 0 || count >= requestedCount) return;
    this.#warnings.push(
      `${model.id ?? model.model} returned ${count} of the ${requestedCount} requested answers`,
    );
  }

  #sendWhileBusy(request: BuiltRequest): Promise<HttpAnswer> {
    return retryWhileBusy(this.#getRetrySettings(), () =>
      sendToProvider(request, this.#access, this.#signal),
    );
  }

  #getRetrySettings(): Pick<EngineJob, 'sleep' | 'signal'> {
    return { sleep: this.#job.sleep.bind(this.#job), signal: this.#signal };
  }

  async #toResult(getAnswer: () => Promise<ModelAnswer>): Promise<EngineResult> {
    try {
      const answer = await getAnswer();
      answer.assertUsable();
      return await this.#toSuccessfulResult(answer);
    } catch (error) {
      this.#job.signal.throwIfAborted();
      return await this.#toFailedResult(error);
    }
  }

  async #toSuccessfulResult(answer: ModelAnswer): Promise<EngineResult> {
    const { name } = this.#access.provider;
    for (const reason of answer.unknownStopReasons) {
      this.#warnings.push(
        `${name} ended its answer for an unknown reason (${reason}): the answer counts as complete`,
      );
    }

    const images = await fetchAnswerImages(answer.images, { signal: this.#signal }, this.#access);
    return {
      ...this.#getUsageAndWarnings(),
      outputs: [...this.#listTextOutputs(), ...images],
      tokens: answer.tokens ?? estimateTokens(this.#job.prompt.text + answer.text),
      hasFailed: answer.text === '' && images.every(({ type }) => type === 'error'),
    };
  }

  /** Returns the result after a fault: the text that had arrived, then the error. */
  async #toFailedResult(error: unknown): Promise<EngineResult> {
    const { message, publicMessage, isRefused, isUnanswered, fault } = this.#timeout.aborted
      ? explainTimeout(this.#access.provider, this.#timeoutMs)
      : await explainFault(error, this.#job, this.#access);
    const texts = this.#listTextOutputs();
    const { outputs, ...failedResult } = createFailedResult(message, publicMessage);

    return {
      ...failedResult,
      ...this.#getUsageAndWarnings(),
      outputs: [...texts, ...outputs],
      isRefused,
      isUnanswered: isUnanswered && texts.length === 0,
      ...(fault !== undefined && { fault }),
    };
  }

  #getUsageAndWarnings(): Pick<EngineResult, 'usage' | 'warnings'> {
    return {
      usage: this.#answer?.usage,
      ...(this.#warnings.length > 0 && { warnings: [...new Set(this.#warnings)] }),
    };
  }

  #listTextOutputs(): EngineOutput[] {
    const texts = this.#answer?.texts ?? [];
    return texts.filter(text => text !== '').map(text => ({ type: 'text', text }));
  }
}

/**
 * Returns the format that an answer names itself: batches of an earlier version may have another
 * one.
 */
function findAnswerFormat(body: Readonly<Record<string, unknown>>): AnswerFormat | undefined {
  if (body['object'] === 'chat.completion') return CHAT;
  if (body['object'] === 'response') return RESPONSES;
  return body['type'] === 'message' ? MESSAGES : undefined;
}

function explainTimeout({ name }: Provider, timeoutMs: number) {
  const message = `${name} gave no complete answer in ${timeoutMs / 60_000} minutes: try again later, or ask for less`;
  return {
    message,
    publicMessage: message,
    isRefused: false,
    isUnanswered: true,
    fault: undefined,
  };
}
