import { realpath } from 'node:fs/promises';
import { prepareDataDirectory } from '../../files/data-directory.ts';
import { codeOf, messageOf } from '../../files/error-utils.ts';
import { fileIn } from '../../files/write-below.ts';
import { replaceFile } from '../../files/write-file.ts';
import type { Provider } from '../entry.ts';
import type { Env } from '../outgoing/proxy.ts';
import { askForModels, type Offer } from '../providers/endpoints.ts';
import { configuredProviders, knownProviders } from '../providers/providers.ts';
import { addToModelsFile, fileName } from './add-to-file.ts';
import { type ModelsPlace, readModelsFile } from './file.ts';

interface DiscoverOptions extends ModelsPlace {
  readonly signal: AbortSignal;
}

export type Discovery = Awaited<ReturnType<typeof discoverModels>>;
/** What asking one endpoint came to. */
export type DiscoveredEndpoint = Discovery['endpoints'][number];

/**
 * Asks the endpoints that models.yaml and the environment name, and an Ollama on this machine, for their models, and adds
 * those that are new to models.yaml. What the file says stays as it is, comments included.
 *
 * @throws {InvalidModelsFile} for a models.yaml that can't be read
 */
export async function discoverModels({ dataDir, env, signal }: DiscoverOptions) {
  const { file, text, described } = await readModelsFile({ dataDir, env });
  const providers = endpointsOf(described.providers, env);
  const offers = await Promise.all(providers.map(provider => offerOf(provider, env, signal)));
  // An Ollama that the file does not describe need not be there.
  const answered = offers.filter(
    ({ provider, fault }) =>
      fault === undefined || provider.name !== 'ollama' || described.providers.includes(provider),
  );
  const { text: extended, added } = addToModelsFile(text, described, answered);
  if (extended !== undefined && extended !== text) {
    await prepareDataDirectory(dataDir);
    // A file of the user's own, which may well be a link to where the others are kept.
    await replaceFile(fileIn(await realpath(file).catch(() => file)), extended, 0o600);
  }
  const endpoints = answered.map(({ provider: { name, baseUrl }, models, others, fault }, index) => {
    /** Models that are new in models.yaml, by the names prompts use. */
    const news = added[index] ?? [];
    const counts = { added: news, known: models.length - news.length, others };
    return { provider: name, baseUrl, ...(fault !== undefined && { fault }), ...counts };
  });
  /** `file` is models.yaml, `faults` what takes away entries of it, each as `file:line: what`. */
  return { file, endpoints, faults: described.faults };
}

/** Those that the file describes, those that the environment has a key or an address for, and Ollama. */
function endpointsOf(described: readonly Provider[], env: Env): Provider[] {
  const isNew = (provider: Provider): boolean =>
    !described.some(one => one.name === fileName(provider) || sameEndpoint(one.baseUrl, provider.baseUrl));
  const own = knownProviders(env).filter(
    ({ name, keyVariables, isMoved }) => keyVariables.length === 0 && (isMoved || name === 'ollama'),
  );
  return [...described, ...[...configuredProviders(env), ...own].filter(isNew)];
}

function sameEndpoint(one: string, other: string): boolean {
  const plain = (url: string): string =>
    new URL(url).href.replace(/(?<!\/)\/+$/, '').replace('://localhost', '://127.0.0.1');
  return URL.canParse(one) && URL.canParse(other) && plain(one) === plain(other);
}

async function offerOf(
  provider: Provider,
  env: Env,
  signal: AbortSignal,
): Promise<Offer & { readonly provider: Provider; readonly fault?: string }> {
  try {
    return { provider, ...(await askForModels(provider, env, signal)) };
  } catch (error) {
    signal.throwIfAborted();
    return { provider, models: [], others: 0, fault: reasonOf(error) };
  }
}

/** Why an endpoint could not be asked. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'nobody knows that host';
  return messageOf(error) || code || 'it can’t be reached';
}
