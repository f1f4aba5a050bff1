import type OpenAI from 'openai';
import type { Env } from '../../models/openai.ts';
import type { Provider } from '../../models/entry.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith } from '../engine.ts';
import { chat } from './chat.ts';
import { draw } from './draw.ts';
import { explain } from './explain.ts';

/** Long, because reasoning and drawing are slow; in milliseconds. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_RETRIES = 2;

/** Runs prompts on any endpoint that speaks the OpenAI interface; keys come from the environment at each run. */
export function openAiCompatible(env: Env): Engine {
  return {
    async run(job) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const key = provider.apiKeyEnv === undefined ? undefined : env[provider.apiKeyEnv];
      if (provider.apiKeyEnv !== undefined && !key) {
        return failedWith(`no key for ${provider.name}: set ${provider.apiKeyEnv} where the service runs`);
      }
      return await ask(job, provider, key);
    },
  };
}

async function ask(job: EngineJob, provider: Provider, key: string | undefined): Promise<EngineResult> {
  const client = await connect(provider, key);
  try {
    return await (job.model.modality === 'image' ? draw(client, job) : chat(client, job));
  } catch (error) {
    job.signal.throwIfAborted();
    return failedWith(explain(error, provider, key));
  }
}

/** Everything is told to the client, so that it looks for nothing in the environment by itself. */
async function connect(provider: Provider, key: string | undefined): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    apiKey: key ?? 'none',
    baseURL: provider.baseUrl ?? 'https://api.openai.com/v1',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: TIMEOUT_MS,
    maxRetries: MAX_RETRIES,
    logLevel: 'off',
    ...(key === undefined ? { defaultHeaders: { authorization: null } } : {}),
  });
}
