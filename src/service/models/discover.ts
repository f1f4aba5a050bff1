import { codeOf, messageOf } from '../../files/error-utils.ts';
import { replaceFile } from '../../files/write-file.ts';
import type { Env } from '../outgoing/proxy.ts';
import { prepareDataDirectory } from '../store/data-dir.ts';
import { addToModelsFile, fileName } from './add-to-file.ts';
import { askForModels, type Offer } from './endpoints.ts';
import type { Provider } from './entry.ts';
import { readModelsFile } from './file.ts';
import { configuredProviders, knownProviders } from './providers.ts';

export interface DiscoverOptions {
  readonly dataDir: string;
  /** Holds the keys and addresses of providers, and the proxies. */
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

export type Discovery = Awaited<ReturnType<typeof discoverModels>>;

/**
 * Asks the endpoints that models.yaml and the environment name, and an Ollama on this machine, for their models, and adds
 * those that are new to models.yaml. What the file says stays as it is, comments included.
 *
 * @throws {InvalidModelsFile} for a models.yaml that can't be read
 */
export async function discoverModels({ dataDir, env, signal }: DiscoverOptions) {
  const { file, text, described } = await readModelsFile({ dataDir, env });
  const toAsk = endpointsOf(described.providers, env);
  const offers = await Promise.all(toAsk.map(endpoint => offerOf(endpoint, env, signal)));
  const answered = offers.filter(({ fault, implied }) => !(implied && fault !== undefined));
  const { text: extended, added } = addToModelsFile(text, described, answered);
  if (extended !== undefined && extended !== text) {
    await prepareDataDirectory(dataDir);
    await replaceFile(file, extended, 0o600);
  }
  const endpoints = answered.map(
    ({ provider: { name, baseUrl }, models, others, fault }, index): DiscoveredEndpoint => {
      const news = added[index] ?? [];
      return {
        provider: name,
        baseUrl,
        ...(fault === undefined ? {} : { fault }),
        added: news,
        known: models.length - news.length,
        others,
      };
    },
  );
  /** `file` is models.yaml, `faults` what takes away entries of it, each as `file:line: what`. */
  return { file, endpoints, faults: described.faults };
}

interface Endpoint {
  readonly provider: Provider;
  /** Whether nobody configured it: then it need not be there. */
  readonly implied: boolean;
}

/** Those that the file describes, those that the environment has a key or an address for, and Ollama. */
function endpointsOf(described: readonly Provider[], env: Env): Endpoint[] {
  const isNew = (provider: Provider): boolean =>
    !described.some(one => one.name === fileName(provider) || sameEndpoint(one.baseUrl, provider.baseUrl));
  const own = knownProviders(env).filter(
    ({ name, keyVariables, isMoved }) => keyVariables.length === 0 && (isMoved || name === 'ollama'),
  );
  return [
    ...described.map(provider => ({ provider, implied: false })),
    ...configuredProviders(env)
      .filter(isNew)
      .map(provider => ({ provider, implied: false })),
    ...own.filter(isNew).map(provider => ({ provider, implied: provider.name === 'ollama' })),
  ];
}

function sameEndpoint(one: string, other: string): boolean {
  const plain = (url: string): string =>
    new URL(url).href.replace(/(?<!\/)\/+$/, '').replace('://localhost', '://127.0.0.1');
  return URL.canParse(one) && URL.canParse(other) && plain(one) === plain(other);
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
