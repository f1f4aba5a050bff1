import type OpenAI from 'openai';
import type { Dispatcher } from 'undici';
import type { Provider } from '../../models/entry.ts';
import type { Env } from '../../models/environment.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith } from '../engine.ts';
import { againIfBusy } from './busy.ts';
import { chat } from './chat.ts';
import { draw } from './draw.ts';
import { explain } from './explain.ts';
import { proxyTo } from './proxy.ts';

/** For an answer with all its waits: long, because reasoning and drawing are slow; in milliseconds. */
const TIMEOUT_MS = 10 * 60_000;
const OFFICIAL_URL = 'https://api.openai.com/v1';

/** Runs prompts on any endpoint that speaks the OpenAI interface; keys come from the environment at each run. */
export function openAiCompatible(env: Env, timeoutMs = TIMEOUT_MS): Engine {
  return {
    async run(job) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const key = provider.apiKeyEnv === undefined ? undefined : env[provider.apiKeyEnv];
      if (provider.apiKeyEnv !== undefined && !key) {
        return failedWith(`no key for ${provider.name}: set ${provider.apiKeyEnv} where the service runs`);
      }
      return await ask(job, { provider, key, env, timeoutMs });
    },
  };
}

interface Access {
  readonly provider: Provider;
  readonly key: string | undefined;
  readonly env: Env;
  readonly timeoutMs: number;
}

async function ask(job: EngineJob, { provider, key, env, timeoutMs }: Access): Promise<EngineResult> {
  const limit = AbortSignal.timeout(timeoutMs);
  const limited = { ...job, signal: AbortSignal.any([job.signal, limit]) };
  const baseURL = provider.baseUrl ?? OFFICIAL_URL;
  let dispatcher: Dispatcher | undefined;
  try {
    dispatcher = await proxyTo(baseURL, env);
    const client = await connect(baseURL, key, dispatcher);
    const make = job.model.modality === 'image' ? draw : chat;
    return await againIfBusy(limited, () => make(client, limited));
  } catch (error) {
    job.signal.throwIfAborted();
    if (limit.aborted) return failedWith(`${provider.name} gave no answer in ${timeoutMs / 60_000} minutes`);
    return failedWith(explain(error, provider, key));
  } finally {
    await dispatcher?.destroy();
  }
}

/** Everything is told to the client, so that it looks for nothing in the environment by itself. */
async function connect(
  baseURL: string,
  key: string | undefined,
  dispatcher: Dispatcher | undefined,
): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    apiKey: key ?? 'none',
    baseURL,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: TIMEOUT_MS,
    // Sent again, a request that had been answered could be paid for twice.
    maxRetries: 0,
    logLevel: 'off',
    // Node's own types are of an older undici than the one that is installed.
    ...(dispatcher ? { fetchOptions: { dispatcher } as object } : {}),
    ...(key === undefined ? { defaultHeaders: { authorization: null } } : {}),
  });
}
