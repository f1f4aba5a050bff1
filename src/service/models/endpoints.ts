import { parseBoundedJson } from '../../wire/bounded-json.ts';
import { type Env, proxyFor } from '../outgoing/proxy.ts';
import { openHttp, readBody } from '../outgoing/request.ts';
import type { Provider } from './entry.ts';
import { guessedModality } from './environment.ts';

/** A model that an endpoint says it has. */
export interface OfferedModel {
  readonly id: string;
  readonly modality: 'text' | 'image';
}

export interface Offer {
  readonly models: readonly OfferedModel[];
  /** How many it has that can't answer prompts, such as those for embeddings or speech. */
  readonly others: number;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Asks an endpoint for its models (`GET /models`).
 *
 * @throws {Error} for an endpoint that can't be reached or answers with something else; the message holds no key
 */
export async function askForModels(provider: Provider, env: Env, signal: AbortSignal): Promise<Offer> {
  const url = new URL(`${provider.baseUrl.replace(/(?<!\/)\/+$/, '')}/models`);
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await openHttp({
      url,
      headers: { accept: 'application/json', ...authorization(provider, env), ...provider.headers },
      signal: AbortSignal.any([signal, limit]),
      proxy: proxyFor(url, env),
    });
    if (answer.status !== 200) answer.discard();
    checkStatus(answer.status, answer.headers.location, provider);
    return offerIn((await readBody(answer, MAX_BYTES)).toString('utf8'));
  } catch (error) {
    signal.throwIfAborted();
    throw limit.aborted ? new Error('no answer in 10 s', { cause: error }) : error;
  }
}

function authorization({ apiKeyEnv }: Provider, env: Env): Record<string, string> {
  const key = apiKeyEnv === undefined ? undefined : env[apiKeyEnv]?.trim();
  return key ? { authorization: `Bearer ${key}` } : {};
}

function checkStatus(status: number, location: string | undefined, { apiKeyEnv }: Provider): void {
  if (status === 200) return;
  if (status === 401 || status === 403) {
    throw new Error(
      `it refuses the key (${status}): ${apiKeyEnv === undefined ? 'give it an apiKeyEnv' : `check ${apiKeyEnv}`}`,
    );
  }
  if (status >= 300 && status < 400) {
    throw new Error(`it redirects to ${location ?? 'nowhere'}: give that as its baseUrl`);
  }
  if (status === 404) throw new Error('it has no /models (404): check its baseUrl, which mostly ends in /v1');
  throw new Error(`it answered ${status}`);
}

function offerIn(text: string): Offer {
  const items = itemsIn(text);
  const models = items.flatMap(offered);
  return { models, others: items.length - models.length };
}

/** Servers put the list in `data`, in `models`, or give it alone. */
function itemsIn(text: string): Record<string, unknown>[] {
  const value = parse(text);
  const { data, models } = isObject(value) ? value : {};
  const list = [value, data, models].find(Array.isArray) as unknown[] | undefined;
  if (!list) {
    throw new Error(
      'it answered with something that is not a list of models: check its baseUrl, which mostly ends in /v1',
    );
  }
  return list.filter(isObject);
}

function parse(text: string): unknown {
  try {
    return parseBoundedJson(text, { values: 1_000_000 });
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What makes neither texts nor pictures, by the words in its name. */
const OTHER_KINDS =
  /embed|whisper|(?:^|[-_/])tts|speech|audio|voice|transcri|moderation|realtime|rerank|guard|\bsora|video|^(?:babbage|davinci)-/i;

function offered(item: Record<string, unknown>): OfferedModel[] {
  const id = item['id'] ?? item['name'];
  // A name that could not be written to a file and a terminal as it is was not meant to be used.
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(id)) return [];
  const makes = outputsOf(item);
  if (makes) {
    return makes.includes('text')
      ? [{ id, modality: 'text' }]
      : makes.includes('image')
        ? [{ id, modality: 'image' }]
        : [];
  }
  return OTHER_KINDS.test(id) ? [] : [{ id, modality: guessedModality(id) }];
}

/** Some say what a model makes. */
function outputsOf({ architecture }: Record<string, unknown>): unknown[] | undefined {
  const outputs = isObject(architecture) ? architecture['output_modalities'] : undefined;
  return Array.isArray(outputs) ? outputs : undefined;
}
