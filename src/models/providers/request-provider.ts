import { parseJson } from '../../files/formats/json.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { withoutTrailingSlashes } from '../../wire/addresses.ts';
import { type HttpAnswer, type PiecewiseBody, USER_AGENT } from '../outgoing/open-http.ts';
import { readBody } from '../outgoing/read-body.ts';
import { ProviderFault } from './answers/provider-fault.ts';
import type { ProviderAccess } from './provider-access.ts';
import { MAX_PROVIDER_ANSWER_BYTES, sendToProvider } from './send-request.ts';

/** A request that asks no model, such as one about a batch. */
export interface PlainRequest {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  /** A value to send as JSON, or an encoded body. */
  readonly body?: object | TypedBody;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TypedBody extends PiecewiseBody {
  readonly contentType: string;
}

/**
 * Sends a request to a provider once; does not read the body of the response.
 *
 * @throws {ProviderFault} if the response is not a success
 */
export async function requestProvider(
  { path, method = 'GET', body, headers = {} }: PlainRequest,
  access: ProviderAccess,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const base = withoutTrailingSlashes(access.provider.baseUrl);
  const isUrl = /^https?:\/\//.test(path);
  const typedBody = body && toTypedBody(body);

  return await sendToProvider(
    {
      url: new URL(isUrl ? path : `${base}${path}`),
      method,
      headers: {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        ...(typedBody && { 'content-type': typedBody.contentType }),
        ...headers,
      },
      body: typedBody,
    },
    access,
    signal,
  );
}

function toTypedBody(body: object | TypedBody): TypedBody {
  if ('pieces' in body && 'contentType' in body) return body;
  const bytes = Buffer.from(JSON.stringify(body));
  return { contentType: 'application/json', length: bytes.length, pieces: [bytes] };
}

/**
 * Sends a request to a provider once, and returns its JSON object.
 *
 * @throws {ProviderFault} if the response is not a success, or not a JSON object
 */
export async function requestJsonObject(
  request: PlainRequest,
  access: ProviderAccess,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await requestProvider(request, access, signal);
  const text = (await readBody(answer, MAX_PROVIDER_ANSWER_BYTES)).toString('utf8');
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new ProviderFault('answered with something that is not a JSON object', {
    status: answer.status,
  });
}
