import type { Env } from '../../utils/env.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  openHttp,
  type PiecewiseBody,
} from '../outgoing/open-http.ts';
import { findOutgoingProxy } from '../outgoing/proxy.ts';
import { BodyTooLongError, readBody } from '../outgoing/read-body.ts';
import { ProviderFault } from './answers/provider-fault.ts';
import { createRefusalFault } from './answers/refusal-fault.ts';
import type { ProviderAccess } from './provider-access.ts';

/** Maximum size of an answer, in bytes, including images. */
export const MAX_PROVIDER_ANSWER_BYTES = 64 * 1024 * 1024;

/** Maximum size of an error response's body, in bytes. */
const MAX_REFUSAL_BYTES = 256 * 1024;

/** A request as an interface's client made it. */
export interface ProviderRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

interface OutgoingRequest extends Omit<ProviderRequest, 'body'> {
  readonly body?: Uint8Array | PiecewiseBody | undefined;
}

/** Headers that a client fills in even without a key. */
const KEY_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
]);

/**
 * Sends a request once, through the proxy of the environment, to the provider's own host. Does not
 * read the body of the response.
 *
 * @throws {ProviderFault} if the response is not a success, or the URL has another origin
 */
export async function sendToProvider(
  { url, method, headers, body }: OutgoingRequest,
  { provider, key, env, traceparent }: ProviderAccess,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  // The key must not go to another host, whatever an answer names.
  if (url.origin !== new URL(provider.baseUrl).origin) {
    throw new ProviderFault(`refers to another host, ${url.origin}, which is not called`);
  }
  const keptHeaders = Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => key !== undefined || !KEY_HEADERS.has(name.toLowerCase()),
    ),
  );
  return await sendRequest(
    {
      url,
      method,
      headers: {
        ...keptHeaders,
        ...(traceparent !== undefined && { traceparent }),
        ...provider.headers,
      },
      body,
    },
    env,
    signal,
  );
}

/**
 * Sends a request once, through the proxy of the environment. Does not read the body of the
 * response.
 *
 * @throws {ProviderFault} if the response is not a success
 */
export async function sendRequest(
  { url, method, headers, body }: OutgoingRequest,
  env: Env,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const answer = await openDecoded({
    url,
    method,
    headers: {
      ...headers,
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    },
    body,
    signal,
    proxy: findOutgoingProxy(url, env),
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw createRefusalFault({
    status: answer.status,
    headers: answer.headers,
    text: await readRefusalText(answer),
  });
}

/** Sends a request, and decodes an answer that is compressed although no request asks for that. */
export async function openDecoded(request: HttpRequest): Promise<HttpAnswer> {
  const answer = await openHttp(request);
  const { 'content-encoding': encoding = 'identity' } = answer.headers;
  if (encoding.trim().toLowerCase() === 'identity') return answer;
  const { decodeAnswer } = await import('./decode-answer.ts');
  return decodeAnswer(answer, encoding);
}

/** Reads the body of an error response; a truncated one is still an error. */
async function readRefusalText(answer: HttpAnswer): Promise<string> {
  try {
    return (await readBody(answer, MAX_REFUSAL_BYTES)).toString('utf8');
  } catch (error) {
    return error instanceof BodyTooLongError ? `with more than can be shown: ${error.message}` : '';
  }
}
