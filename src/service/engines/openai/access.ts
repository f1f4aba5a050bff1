import type OpenAI from 'openai';
import type { Provider } from '../../models/entry.ts';
import { type Env, proxyFor } from '../../outgoing/proxy.ts';
import { boundedBody, type HttpAnswer, openHttp } from '../../outgoing/request.ts';
import { refusedAnswer } from './refused.ts';

/** What a provider is reached with. */
export interface Access {
  readonly provider: Provider;
  /** undefined sends none. */
  readonly key: string | undefined;
  /** Holds the proxies. */
  readonly env: Env;
}

/** Most bytes that are read of one answer, pictures included. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * A client that sends each request once, through the proxy of the environment, follows no redirect and reads a bounded
 * number of bytes. Everything is passed to it, so that it looks for nothing in the environment by itself.
 */
export async function connect({ provider, key, env }: Access): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    apiKey: key ?? 'none',
    baseURL: provider.baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    // The engine has its own limit. Sent again, a request that had been answered could be paid for twice.
    timeout: 2 ** 31 - 1,
    maxRetries: 0,
    logLevel: 'off',
    fetch: (input, init) => fetchOnce(new Request(input, init), env),
    defaultHeaders: { ...(key === undefined ? { authorization: null } : {}), ...provider.headers },
  });
}

async function fetchOnce(request: Request, env: Env): Promise<Response> {
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  const url = new URL(request.url);
  // The client asks for this once, to learn what kind of responses it will get.
  if (url.protocol === 'data:') return new Response('');
  const answer = await openHttp({
    url,
    method: request.method,
    headers: {
      ...Object.fromEntries(request.headers),
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    },
    body,
    signal: request.signal,
    proxy: proxyFor(url, env),
  });
  if (answer.status < 200 || answer.status >= 300) throw await refusedAnswer(answer);
  return responseOf(answer);
}

function responseOf(answer: HttpAnswer): Response {
  const headers = { 'content-type': answer.headers['content-type'] ?? '' };
  const body = ReadableStream.from(boundedBody(answer, MAX_ANSWER_BYTES));
  return new Response(body, { status: 200, headers });
}
