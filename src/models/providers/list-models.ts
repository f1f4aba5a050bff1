import { parseJson, withoutUndefined } from '../../files/formats/json.ts';
import { isJsonObject, readListAt, readValueAt } from '../../utils/bounded-json.ts';
import type { Env } from '../../utils/env.ts';
import { withoutTrailingSlashes } from '../../wire/addresses.ts';
import type { InterfaceName, Price, Provider } from '../model-entry.ts';
import { USER_AGENT } from '../outgoing/open-http.ts';
import { findOutgoingProxy } from '../outgoing/proxy.ts';
import { readBody } from '../outgoing/read-body.ts';
import { findAccessFault } from './access-fault.ts';
import { guessModality } from './guessed-model.ts';
import { readProviderKey } from './providers.ts';
import { openDecoded } from './send-request.ts';

/** A model in an endpoint's list. */
export interface OfferedModel {
  readonly id: string;
  readonly modality: 'text' | 'image';
  /** Undefined if the endpoint does not list prices. */
  readonly price?: Price;
  /** The day of its shutdown, such as 2026-11-30; undefined if the endpoint lists none. */
  readonly shutdownDate?: string;
}

/** An endpoint's list of models. */
export interface EndpointModels {
  readonly models: readonly OfferedModel[];
  /** The number of models that can't answer prompts, such as those for embeddings or speech. */
  readonly unusableCount: number;
}

/** An endpoint's refusal to list models with this key, or without one. */
export class EndpointRefusalError extends Error {}

const ENDPOINT_TIMEOUT_MS = 10_000;
const MAX_ENDPOINT_ANSWER_BYTES = 16 * 1024 * 1024;

/** Maximum distance of a `Date` from 1970, in milliseconds. */
const MAX_DATE_MS = 8.64e15;

/** Headers for keys that are not sent as a bearer token. */
const KEY_HEADER_BY_INTERFACE: Partial<Record<InterfaceName, string>> = {
  anthropic: 'x-api-key',
  google: 'x-goog-api-key',
  vertexai: 'x-goog-api-key',
  azure: 'api-key',
};

/** Interfaces whose address has no usual ending. */
const INTERFACES_WITHOUT_ENDING: ReadonlySet<InterfaceName> = new Set([
  'anthropic',
  'bedrock',
  'vertexai',
]);

/** Matches names of models that make neither texts nor images, such as `text-embedding-3`. */
const UNUSABLE_MODEL =
  /embed|whisper|(?:^|[-_/])tts|speech|audio|voice|transcri|moderation|realtime|rerank|guard|\bsora|video|^(?:babbage|davinci)-/i;

/**
 * Lists an endpoint's models (`GET /models`).
 *
 * @throws {Error} if the endpoint can't be reached or its answer is not a list; the message never
 * holds a key
 */
export async function listModels(
  provider: Provider,
  env: Env,
  signal: AbortSignal,
): Promise<EndpointModels> {
  const fault = findAccessFault(provider, env);
  if (fault) {
    throw fault.kind === 'missing'
      ? new EndpointRefusalError(fault.message)
      : new Error(fault.message);
  }

  const url = buildListUrl(provider);
  const timeout = AbortSignal.timeout(ENDPOINT_TIMEOUT_MS);
  try {
    const answer = await openDecoded({
      url,
      headers: {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        ...buildAuthorization(provider, env),
        ...provider.headers,
      },
      signal: AbortSignal.any([signal, timeout]),
      proxy: findOutgoingProxy(url, env),
    });
    if (answer.status !== 200) answer.discard();
    requireSuccess(answer.status, answer.headers.location, provider);

    const body = await readBody(answer, MAX_ENDPOINT_ANSWER_BYTES);
    return parseModelList(body.toString('utf8'), provider);
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new Error(`no answer in ${ENDPOINT_TIMEOUT_MS / 1000} s`, { cause: error });
  }
}

function buildListUrl({ interfaceName, baseUrl }: Provider): URL {
  const base = withoutTrailingSlashes(baseUrl);
  if (interfaceName === 'anthropic') return new URL(`${base}/v1/models?limit=1000`);
  return new URL(interfaceName === 'google' ? `${base}/models?pageSize=1000` : `${base}/models`);
}

function buildAuthorization(provider: Provider, env: Env): Record<string, string> {
  const key = readProviderKey(provider, env);
  const version =
    provider.interfaceName === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  if (key === undefined) return version;
  const header = KEY_HEADER_BY_INTERFACE[provider.interfaceName];
  return header === undefined ? { authorization: `Bearer ${key}` } : { ...version, [header]: key };
}

function requireSuccess(status: number, location: string | undefined, provider: Provider): void {
  const { keyVariables, addressName = 'its baseUrl' } = provider;
  if (status === 200) return;

  if (status === 401 || status === 402 || status === 403) {
    const remedy =
      keyVariables.length === 0 ? 'give it an apiKeyEnv' : `check ${keyVariables.join(' or ')}`;
    throw new EndpointRefusalError(`it refuses the key (${status}): ${remedy}`);
  }

  if (status >= 300 && status < 400) {
    throw new Error(
      `it redirects to ${location ?? 'nowhere'}: if you trust that address, set ${addressName} to it`,
    );
  }

  if (status === 404) {
    throw new Error(`it has no /models (404): check ${describeBaseUrl(provider)}`);
  }

  throw new Error(`it answered ${status}`);
}

/** Returns the name of a provider's address in messages, with the path that it usually ends in. */
export function describeBaseUrl({ addressName = 'its baseUrl', interfaceName }: Provider): string {
  if (INTERFACES_WITHOUT_ENDING.has(interfaceName)) return addressName;
  return `${addressName}, which usually ends in ${interfaceName === 'google' ? '/v1beta' : '/v1'}`;
}

function parseModelList(text: string, provider: Provider): EndpointModels {
  const items = parseItems(text, provider);
  const offers = items.filter(answersPrompts).flatMap(item => parseItem(item) ?? []);
  // An endpoint that gathers the lists of others may list a model twice.
  const models = [...new Map(offers.map(model => [model.id, model])).values()];
  return { models, unusableCount: items.length - offers.length };
}

/** Returns the items of the list, which servers put into `data` or `models` or send on its own. */
function parseItems(text: string, provider: Provider): Record<string, unknown>[] {
  const value = parseJson(text);
  const list: unknown = [value, readValueAt(value, 'data'), readValueAt(value, 'models')].find(
    Array.isArray,
  );
  if (list === undefined) {
    throw new Error(
      `it answered with something that is not a list of models: check ${describeBaseUrl(provider)}`,
    );
  }

  return readListAt(list).filter(isJsonObject);
}

/** Returns true unless Google lists only other methods for the model. */
function answersPrompts(item: Record<string, unknown>): boolean {
  const methods = item['supportedGenerationMethods'];
  return (
    !Array.isArray(methods) || methods.includes('generateContent') || methods.includes('predict')
  );
}

/** Returns the model of an item; undefined if its name is unsafe or it can't answer prompts. */
function parseItem(item: Record<string, unknown>): OfferedModel | undefined {
  const nameValue = item['id'] ?? item['name'];

  // Other names are unsafe to write to files and terminals.
  if (typeof nameValue !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(nameValue)) return undefined;

  // Google lists names as resource paths, and takes them without the prefix.
  const id = nameValue.replace(/^models\//, '');
  const modality = readModality(id, item);
  if (modality === undefined) return undefined;

  const price = readListedPrice(item);
  return withoutUndefined({ id, modality, price, shutdownDate: readShutdownDate(item) });
}

/** Returns the modality of a model: as listed, else guessed from its name. */
function readModality(id: string, item: object): OfferedModel['modality'] | undefined {
  const modalities = readValueAt(item, 'architecture', 'output_modalities');
  if (!Array.isArray(modalities)) return UNUSABLE_MODEL.test(id) ? undefined : guessModality(id);
  if (!modalities.includes('image')) return modalities.includes('text') ? 'text' : undefined;
  // Models that chat and models that draw both list text and images.
  return modalities.includes('text') ? guessModality(id) : 'image';
}

/**
 * Returns the listed price. OpenRouter lists dollars per token, as text; a negative price means a
 * variable one.
 */
function readListedPrice(item: object): Price | undefined {
  const readDollars = (key: string): number | undefined => {
    const price = Number.parseFloat(String(readValueAt(item, 'pricing', key)));
    return price >= 0 && Number.isFinite(price) ? price : undefined;
  };

  const readDollarsPerMillion = (key: string): number | undefined => {
    const price = readDollars(key);
    return price === undefined ? undefined : Number((price * 1e6).toPrecision(12));
  };

  const input = readDollarsPerMillion('prompt');
  const output = readDollarsPerMillion('completion');
  if (input === undefined || output === undefined) return undefined;

  const cachedInput = readDollarsPerMillion('input_cache_read');
  return withoutUndefined({
    input,
    output,
    cachedInput,
    image: readDollars('image_output') || undefined,
  });
}

/**
 * Returns the listed day of shutdown, from a date or a time in seconds. Each provider has its own
 * field.
 */
function readShutdownDate(item: Record<string, unknown>): string | undefined {
  const date = item['shutdown_date'] ?? item['deprecation'] ?? item['retires_at'];
  const time = typeof date === 'number' ? date * 1000 : Date.parse(String(date));
  return Math.abs(time) <= MAX_DATE_MS ? new Date(time).toISOString().slice(0, 10) : undefined;
}
