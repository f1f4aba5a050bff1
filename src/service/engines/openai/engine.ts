import type { Env } from '../../outgoing/proxy.ts';
import { type Engine, type EngineJob, type EngineResult, failedWith } from '../engine.ts';
import { type Access, connect } from './access.ts';
import { chat } from './chat.ts';
import { ChatAnswer } from './chat-answer.ts';
import { draw } from './draw.ts';
import { explain } from './fault.ts';

/** For an answer with all its waits: long, because reasoning and drawing are slow; in milliseconds. */
const TIMEOUT_MS = 10 * 60_000;

/** Runs prompts on any endpoint that speaks the OpenAI interface; keys come from the environment at each run. */
export function openAiCompatible(env: Env, timeoutMs = TIMEOUT_MS): Engine {
  return {
    async run(job) {
      const { provider } = job.model;
      if (!provider) return failedWith(`the model ${job.model.model} has no provider`);
      const key = provider.apiKeyEnv === undefined ? undefined : env[provider.apiKeyEnv]?.trim();
      if (provider.apiKeyEnv !== undefined && !key) {
        return failedWith(`no key for ${provider.name}: set ${provider.apiKeyEnv} where the service runs`);
      }
      return await ask(job, { provider, key, env }, timeoutMs);
    },
  };
}

/** A fault keeps the text that had come until then, before its error item. */
async function ask(job: EngineJob, access: Access, timeoutMs: number): Promise<EngineResult> {
  const { provider, key } = access;
  const limit = AbortSignal.timeout(timeoutMs);
  const limited = { ...job, signal: AbortSignal.any([job.signal, limit]) };
  const answer = new ChatAnswer();
  try {
    const client = await connect(access);
    if (job.model.modality === 'image') return await draw(client, limited, access);
    return await chat(client, limited, access, answer);
  } catch (error) {
    job.signal.throwIfAborted();
    const message = limit.aborted
      ? `${provider.name} gave no whole answer in ${timeoutMs / 60_000} minutes: try again later, or ask for less`
      : explain(error, provider, key);
    const { outputs, ...failed } = failedWith(message);
    return {
      ...failed,
      outputs: answer.text === '' ? outputs : [{ type: 'text', text: answer.text }, ...outputs],
    };
  }
}
