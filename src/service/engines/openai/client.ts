import type OpenAI from 'openai';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { type Access, type ClientLimits, clientOptions, headersFor } from '../provider/access.ts';

/** A client of OpenAI's interface. Everything is passed to it, so that it looks for nothing in the environment by itself. */
export async function connect(access: Access, limits?: ClientLimits): Promise<OpenAI> {
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
    ...clientOptions(access, limits),
    apiKey: key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...(key === undefined ? { authorization: null } : {}), ...headersFor(provider) },
  });
}

type StatusError = Parameters<OpenAI['makeStatusError']>;
