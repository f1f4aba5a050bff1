import type { Provider } from '../../models/entry.ts';
import { keyOf } from '../../models/providers.ts';
import type { Env } from '../../outgoing/proxy.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith, type Usage } from '../engine.ts';
import type { Access } from './access.ts';
import { explain } from './fault.ts';

/** For an answer with all its waits, in milliseconds: long, because reasoning, drawing and flex are slow. */
const TIMEOUT_MS = 10 * 60_000;
const FLEX_TIMEOUT_MS = 20 * 60_000;

/** An answer as far as it has come. */
export interface PartialAnswer {
  text: string;
  usage?: Usage | undefined;
}

/** How one interface of providers is spoken: asks once, and keeps in `answer` what comes before a fault. */
export type Speak = (job: EngineJob, access: Access, answer: PartialAnswer) => Promise<EngineResult>;

/** One interface of providers. */
export interface Interface {
  readonly speak: Speak;
  /** Takes the body of an answer for one to the job. */
  readonly read: (...args: [body: Record<string, unknown>, ...Parameters<Speak>]) => Promise<EngineResult>;
}

/** Runs prompts on any endpoint of one interface; its code is loaded at the first run, keys are read at each. */
export function providerEngine(env: Env, load: () => Promise<Interface>, timeoutMs?: number): Engine {
  return {
    async run(job) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const key = keyOf(provider, env);
      if (key === undefined && provider.needsKey) {
        return failedWith(
          `no key for ${provider.name}: set ${provider.keyVariables.join(' or ')} where the service runs`,
        );
      }
      const isFlex = job.runOptions['serviceTier'] === 'flex';
      const limitMs = timeoutMs ?? (isFlex ? FLEX_TIMEOUT_MS : TIMEOUT_MS);
      const { speak } = await load();
      return await ask(job, { provider, key, env }, speak, limitMs);
    },
    async read(job, body) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const { read } = await load();
      const access = { provider, key: keyOf(provider, env), env };
      return await ask(job, access, (...args) => read(body, ...args), TIMEOUT_MS);
    },
  };
}

/** A fault keeps the text that had come until then, before its error item. */
async function ask(job: EngineJob, access: Access, speak: Speak, timeoutMs: number): Promise<EngineResult> {
  const { provider } = access;
  const limit = AbortSignal.timeout(timeoutMs);
  const limited = { ...job, signal: AbortSignal.any([job.signal, limit]) };
  const answer: PartialAnswer = { text: '' };
  try {
    return await speak(limited, access, answer);
  } catch (error) {
    job.signal.throwIfAborted();
    const { message, isRefused } = limit.aborted
      ? { message: tookTooLong(provider, timeoutMs), isRefused: false }
      : await explain(error, job, access);
    const { outputs, ...failed } = failedWith(message);
    return {
      ...failed,
      isRefused,
      usage: answer.usage,
      outputs: answer.text === '' ? outputs : [{ type: 'text', text: answer.text }, ...outputs],
    };
  }
}

function tookTooLong({ name }: Provider, timeoutMs: number): string {
  return `${name} gave no whole answer in ${timeoutMs / 60_000} minutes: try again later, or ask for less`;
}
