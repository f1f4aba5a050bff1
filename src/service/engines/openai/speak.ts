import type OpenAI from 'openai';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { type Access, clientOptions, headersFor } from '../provider/access.ts';
import type { Interface } from '../provider/engine.ts';
import { retryWhileBusy } from '../provider/fault.ts';
import { chatParameters } from './chat.ts';
import { ChatAnswer, endsChat } from './chat-answer.ts';
import { DrawnAnswer, draw } from './draw.ts';

/** OpenAI's interface: models that chat, and models that draw. */
export const OPENAI: Interface = {
  async ask(job, access) {
    const client = await connect(access);
    const { Stream } = await import('openai/streaming');
    const { signal } = job;
    const draws = job.model.modality === 'image';
    const request = (): Promise<Response> =>
      draws
        ? draw(client, job)
        : client.chat.completions.create(chatParameters(job), { signal }).asResponse();
    return {
      response: await retryWhileBusy(job, request),
      events: response => Stream.fromSSEResponse(response, new AbortController(), client),
      isLast: draws ? () => true : endsChat,
    };
  },
  newAnswer: ({ model }) => (model.modality === 'image' ? new DrawnAnswer() : new ChatAnswer()),
};

/** A client of OpenAI's interface. Everything is passed to it, so that it looks for nothing in the environment by itself. */
export async function connect(access: Access, answerBytes?: number): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  const { provider, key } = access;
  class Client extends OpenAI {
    /** Not every server puts what went wrong into `error`. */
    protected override makeStatusError(...[status, body, message, headers]: StatusError) {
      const error = isJsonObject(body) && !('error' in body) ? { error: body } : body;
      return super.makeStatusError(status, error, message, headers);
    }
  }
  return new Client({
    ...clientOptions(access, answerBytes),
    apiKey: key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...(key === undefined ? { authorization: null } : {}), ...headersFor(provider) },
  });
}

type StatusError = Parameters<OpenAI['makeStatusError']>;
