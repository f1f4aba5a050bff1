import {
  type Engine,
  type EngineJob,
  type EngineOutput,
  type EngineResult,
  failedWith,
  roughTokens,
} from '../engine.ts';
import type { Provider } from '../entry.ts';
import type { Env } from '../outgoing/proxy.ts';
import type { Access } from './access.ts';
import type { Answer } from './answer.ts';
import { wholeCharacters } from './answer-body.ts';
import { explain } from './fault.ts';
import { picturesOf } from './pictures.ts';
import { keyOf } from './providers.ts';

/** For an answer with all its waits, in milliseconds: long, because reasoning, drawing and flex are slow. */
const TIMEOUT_MS = 10 * 60_000;
const FLEX_TIMEOUT_MS = 20 * 60_000;

/** One interface of providers. */
export interface Interface {
  /** Asks once; gives the JSON objects of the answer as they come. */
  ask(job: EngineJob, access: Access): AsyncIterable<unknown>;
  newAnswer(job: EngineJob): Answer;
}

/** Runs prompts on any endpoint of one interface; its code is loaded at the first run, keys are read at each. */
export function providerEngine(env: Env, load: () => Promise<Interface>, timeoutMs?: number): Engine {
  return {
    async run(job) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const key = keyOf(provider, env);
      if (key === undefined && provider.needsKey) {
        const variables = provider.keyVariables.join(' or ');
        const message = `no key for ${provider.name}: set ${variables}`;
        return { ...failedWith(message), isRefused: true, fault: 'unauthorised' };
      }
      const isFlex = job.runOptions['serviceTier'] === 'flex';
      const limitMs = timeoutMs ?? (isFlex ? FLEX_TIMEOUT_MS : TIMEOUT_MS);
      const { ask, newAnswer } = await load();
      const access = { provider, key, env };
      return await resultOf(newAnswer(job), job, { access, limitMs }, limited => ask(limited, access));
    },
    async read(job, body) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const { newAnswer } = await load();
      const access = { provider, key: keyOf(provider, env), env };
      return await resultOf(newAnswer(job), job, { access, limitMs: TIMEOUT_MS }, () => [body]);
    },
  };
}

/** What an answer comes to; a fault keeps the text that had come until then, before its error item. */
async function resultOf(
  answer: Answer,
  job: EngineJob,
  { access, limitMs }: { access: Access; limitMs: number },
  objectsOf: (limited: EngineJob) => AsyncIterable<unknown> | Iterable<unknown>,
): Promise<EngineResult> {
  const limit = AbortSignal.timeout(limitMs);
  const limited = { ...job, signal: AbortSignal.any([job.signal, limit]) };
  const show = wholeCharacters(job.onText);
  const texts = (): EngineOutput[] => (answer.text === '' ? [] : [{ type: 'text', text: answer.text }]);
  try {
    for await (const object of objectsOf(limited)) show(answer.add(object));
    answer.check();
    const pictures = await picturesOf(answer.pictures, limited, access);
    return {
      outputs: [...texts(), ...pictures],
      tokens: answer.tokens ?? roughTokens(job.prompt.text + answer.text),
      usage: answer.usage,
      failed: answer.text === '' && pictures.every(({ type }) => type === 'error'),
    };
  } catch (error) {
    job.signal.throwIfAborted();
    const { message, isRefused, fault } = limit.aborted
      ? { message: tookTooLong(access.provider, limitMs), isRefused: false, fault: undefined }
      : await explain(error, job, access);
    const { outputs, ...failed } = failedWith(message);
    return { ...failed, isRefused, fault, usage: answer.usage, outputs: [...texts(), ...outputs] };
  }
}

function tookTooLong({ name }: Provider, timeoutMs: number): string {
  return `${name} gave no whole answer in ${timeoutMs / 60_000} minutes: try again later, or ask for less`;
}
