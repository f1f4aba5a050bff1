import path from 'node:path';
import { codeOf, messageOf } from '../../files/error-utils.ts';
import { replaceFile } from '../../files/write-file.ts';
import type { Env } from '../outgoing/proxy.ts';
import { prepareDataDirectory } from '../store/data-dir.ts';
import { addToModelsFile } from './add-to-file.ts';
import { askForModels, type Offer } from './endpoints.ts';
import type { Provider } from './entry.ts';
import { environmentProvider, OPENAI } from './environment.ts';
import { parseModelsFile } from './file.ts';
import { EMPTY_MODELS_FILE, MODELS_FILE, readModelsText } from './models-file.ts';

export interface DiscoverOptions {
  readonly dataDir: string;
  /** Holds `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OLLAMA_HOST`, the keys of described providers, and the proxies. */
  readonly env: Env;
  readonly signal: AbortSignal;
}

/** What asking one endpoint came to. */
export interface DiscoveredEndpoint {
  readonly provider: string;
  readonly baseUrl: string;
  /** Why it could not be asked; then there is nothing of it. */
  readonly fault?: string;
  /** Models that are new in models.yaml, by the names prompts use. */
  readonly added: readonly string[];
  /** Models of it that models.yaml had before. */
  readonly known: number;
  /** Models that can't answer prompts. */
  readonly others: number;
}

export interface Discovery {
  /** Where models.yaml lies. */
  readonly file: string;
  /** Empty where none is configured and Ollama does not run. */
  readonly endpoints: readonly DiscoveredEndpoint[];
}

/**
 * Asks the endpoints that models.yaml and the environment name, and an Ollama on this machine, for their models, and adds
 * those that are new to models.yaml. What the file says stays as it is, comments included.
 *
 * @throws {InvalidModelsFile} for a models.yaml that can't be used
 * @throws {Error} for an `OPENAI_BASE_URL` that is not a URL
 */
export async function discoverModels({ dataDir, env, signal }: DiscoverOptions): Promise<Discovery> {
  const file = path.join(dataDir, MODELS_FILE);
  const text = await readModelsText(file);
  const environment = environmentProvider(env);
  const described =
    text === undefined ? EMPTY_MODELS_FILE : parseModelsFile(text, file, [environment ?? OPENAI]);
  const toAsk = endpointsOf(described.providers, environment, env);
  const offers = await Promise.all(toAsk.map(endpoint => offerOf(endpoint, env, signal)));
  const answered = offers.filter(({ fault, implied }) => !(implied && fault !== undefined));
  const { text: extended, added } = addToModelsFile(text, described, answered);
  if (extended !== undefined && extended !== text) {
    await prepareDataDirectory(dataDir);
    await replaceFile(file, extended, 0o600);
  }
  const endpoints = answered.map(({ provider: { name, baseUrl }, models, others, fault }, index) => {
    const news = added[index] ?? [];
    return {
      provider: name,
      baseUrl,
      ...(fault === undefined ? {} : { fault }),
      added: news,
      known: models.length - news.length,
      others,
    };
  });
  return { file, endpoints };
}

interface Endpoint {
  readonly provider: Provider;
  /** Whether nobody configured it: then it need not be there. */
  readonly implied: boolean;
}

function endpointsOf(
  described: readonly Provider[],
  environment: Provider | undefined,
  env: Env,
): Endpoint[] {
  const endpoints = described.map(provider => ({ provider, implied: false }));
  const isNew = ({ baseUrl }: Provider): boolean =>
    !endpoints.some(({ provider }) => sameEndpoint(provider.baseUrl, baseUrl));
  if (environment && isNew(environment)) {
    endpoints.push({ provider: unique(environment, endpoints), implied: false });
  }
  const ollama = { name: 'ollama', baseUrl: ollamaUrl(env) };
  if (isNew(ollama)) endpoints.push({ provider: unique(ollama, endpoints), implied: true });
  return endpoints;
}

function sameEndpoint(one: string, other: string): boolean {
  const plain = (url: string): string =>
    new URL(url).href.replace(/(?<!\/)\/+$/, '').replace('://localhost', '://127.0.0.1');
  return plain(one) === plain(other);
}

/** A name that no other provider has. */
function unique(provider: Provider, others: readonly Endpoint[]): Provider {
  let { name } = provider;
  for (let count = 2; others.some(other => other.provider.name === name); count += 1) {
    name = `${provider.name}-${count}`;
  }
  return { ...provider, name };
}

/** `OLLAMA_HOST` is a host, with or without a scheme and a port. */
function ollamaUrl(env: Env): string {
  const host = (env['OLLAMA_HOST'] ?? '').trim().replace(/^0\.0\.0\.0/, '127.0.0.1');
  const text = host.includes('://') ? host : `http://${host || '127.0.0.1'}`;
  if (!URL.canParse(text)) return 'http://127.0.0.1:11434/v1';
  const url = new URL(text);
  const port = url.port || (host.includes('://') ? '' : '11434');
  return `${url.protocol}//${url.hostname}${port === '' ? '' : `:${port}`}/v1`;
}

async function offerOf(
  endpoint: Endpoint,
  env: Env,
  signal: AbortSignal,
): Promise<Endpoint & Offer & { fault?: string }> {
  try {
    return { ...endpoint, ...(await askForModels(endpoint.provider, env, signal)) };
  } catch (error) {
    signal.throwIfAborted();
    return { ...endpoint, models: [], others: 0, fault: reasonOf(error) };
  }
}

/** Why an endpoint could not be asked. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'nobody knows that host';
  return messageOf(error) || code || 'it can’t be reached';
}
