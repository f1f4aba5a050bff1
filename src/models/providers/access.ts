import type { Provider } from '../entry.ts';
import { type Env, proxyFor } from '../outgoing/proxy.ts';
import { boundedBody, openHttp, USER_AGENT } from '../outgoing/request.ts';
import { ProviderFault } from './refusal.ts';

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
/** A refusal is a few lines; of more than this nothing is read. */
const MAX_REFUSAL_BYTES = 256 * 1024;
/** Longer than a client can wait: the engine has a limit of its own, in milliseconds. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * What the clients of both interfaces are made with: each request is sent once, because one that is sent again could be
 * paid for twice, through the proxy of the environment, and a bounded number of bytes is read of its answer. A client
 * looks for nothing in the environment by itself.
 */
export function clientOptions(access: Access, answerBytes = MAX_ANSWER_BYTES) {
  const { provider, key } = access;
  return {
    baseURL: provider.baseUrl,
    apiKey: key ?? 'none',
    defaultHeaders: {
      ...(key === undefined && { authorization: null }),
      ...provider.headers,
      'user-agent': USER_AGENT,
    },
    timeout: NEVER_MS,
    maxRetries: 0,
    logLevel: 'off',
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      fetchOnce(new Request(input, init), access, answerBytes),
  } as const;
}

async function fetchOnce(
  request: Request,
  { provider, env }: Access,
  answerBytes: number,
): Promise<Response> {
  const url = new URL(request.url);
  // The client of OpenAI asks for this once, to learn what kind of responses it will get.
  if (url.protocol === 'data:') return new Response('');
  // Addresses that an answer names are asked with the key as well.
  if (url.origin !== new URL(provider.baseUrl).origin) {
    throw new ProviderFault(`names an address of another host, ${url.origin}, which is not asked`);
  }
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
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
  const { status } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  const maxBytes = status < 300 ? answerBytes : MAX_REFUSAL_BYTES;
  const hasBody = ![204, 205, 304].includes(status);
  return new Response(hasBody ? ReadableStream.from(boundedBody(answer, maxBytes)) : null, {
    status,
    headers,
  });
}
