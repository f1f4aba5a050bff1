import { realpath } from 'node:fs/promises';
import { prepareDataDirectory } from '../../files/data-directory.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import { toContainedPath } from '../../files/writing/write-below.ts';
import { replaceFile } from '../../files/writing/write-file.ts';
import type { Env } from '../../utils/env.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import { isSameAddress } from '../../wire/addresses.ts';
import type { ModelEntry, Provider } from '../model-entry.ts';
import { type EndpointModels, EndpointRefusalError, listModels } from '../providers/list-models.ts';
import {
  findKeyVariable,
  listConfiguredProviders,
  listKnownProviders,
  resolveProviderName,
} from '../providers/providers.ts';
import { extendModelsFile, getNameInFile } from './extend-models-file.ts';
import { findPricing } from './prices.ts';
import { type ModelSources, parseModelsFile, readModelsFile } from './read-models-file.ts';

interface DiscoverOptions extends ModelSources {
  readonly signal: AbortSignal;
}

/** The result of asking an endpoint, as `models discover --json` prints it. */
export interface DiscoveredEndpoint {
  readonly provider: string;
  readonly baseUrl: string;
  readonly fault?: string;
  /** True if the endpoint refuses the key, or there is none. */
  readonly isRefused?: boolean;
  /** New models in models.yaml, by the names that prompts use. */
  readonly added: readonly string[];
  /** Number of listed models that models.yaml had before. */
  readonly known: number;
  /** Number of listed models that can't answer prompts. */
  readonly others: number;
  /** Added models without a known price. */
  readonly unpriced: readonly string[];
}

export interface DiscoveryResult {
  readonly file: string;
  readonly endpoints: readonly DiscoveredEndpoint[];
  /** The faults of invalid entries, each as `file:line: what`. */
  readonly faults: readonly string[];
}

/**
 * Asks the endpoints in models.yaml and the environment, and an Ollama on this machine, for their
 * models, and adds new ones to models.yaml. Leaves the rest of the file unchanged, including
 * comments.
 *
 * @throws {InvalidModelsFileError} if models.yaml can't be read
 */
export async function discoverModels({
  dataDir,
  env,
  signal,
}: DiscoverOptions): Promise<DiscoveryResult> {
  const { file, text, content } = await readModelsFile({ dataDir, env });
  const providers = listProvidersToAsk(content.providers, env);
  const listings = await Promise.all(
    providers.map(provider => listProviderModels(provider, env, signal)),
  );

  // An Ollama that the file does not describe may be missing.
  const reportedListings = listings.filter(
    ({ provider, fault }) =>
      fault === undefined || provider.name !== 'ollama' || content.providers.includes(provider),
  );
  const builtInProviders = listKnownProviders(env);
  const providerNames = [...builtInProviders, ...content.providers].map(({ name }) => name);
  const isProviderPrefix = (name: string): boolean =>
    providerNames.includes(name) || providerNames.includes(resolveProviderName(name));

  const { text: extendedText, addedNames } = extendModelsFile(
    text,
    content,
    reportedListings,
    isProviderPrefix,
  );
  if (extendedText !== undefined && extendedText !== text) {
    await writeModelsFile(dataDir, file, extendedText);
  }

  const writtenModels =
    extendedText === undefined ? [] : parseModelsFile(extendedText, file, builtInProviders).models;
  const unpricedNames = await listUnpricedNames(writtenModels);
  const endpoints = reportedListings.map((listing, index) =>
    toDiscoveredEndpoint(listing, addedNames[index] ?? [], unpricedNames),
  );
  return { file, endpoints, faults: content.faults };
}

async function writeModelsFile(dataDir: string, file: string, text: string): Promise<void> {
  await prepareDataDirectory(dataDir);
  // The user's file may be a link to their dotfiles.
  await replaceFile(toContainedPath(await realpath(file).catch(() => file)), text, 0o600);
}

function toDiscoveredEndpoint(
  { provider: { name, baseUrl }, models, unusableCount, fault, isRefused }: EndpointListing,
  addedNames: readonly string[],
  unpricedNames: ReadonlySet<string>,
): DiscoveredEndpoint {
  return withoutUndefined({
    provider: name,
    baseUrl,
    fault,
    isRefused: isRefused || undefined,
    added: addedNames,
    known: models.length - addedNames.length,
    others: unusableCount,
    unpriced: addedNames.filter(model => unpricedNames.has(model)),
  });
}

async function listUnpricedNames(models: readonly ModelEntry[]): Promise<ReadonlySet<string>> {
  const unpricedNames = await Promise.all(
    models.map(async entry => ((await findPricing(entry)) === undefined ? [entry.model] : [])),
  );
  return new Set(unpricedNames.flat());
}

/**
 * Returns the providers to ask, in this order:
 * 1. those with a key, or another address, in the environment, because a name without a prefix may
 *    be a model of theirs
 * 2. those that models.yaml describes
 * 3. those that need no key: Ollama, and servers whose address is in the environment, such as vLLM
 */
function listProvidersToAsk(describedProviders: readonly Provider[], env: Env): Provider[] {
  const isUndescribed = (provider: Provider): boolean =>
    !describedProviders.some(
      ({ name, baseUrl }) =>
        name === getNameInFile(provider) || isSameAddress(baseUrl, provider.baseUrl),
    );

  const keylessProviders = listKnownProviders(env).filter(
    ({ name, keyVariables, hasCustomBaseUrl }) =>
      keyVariables.length === 0 && (hasCustomBaseUrl || name === 'ollama'),
  );
  const allProviders = [
    ...listConfiguredProviders(env).filter(isUndescribed),
    ...describedProviders,
    ...keylessProviders.filter(isUndescribed),
  ];
  return allProviders.filter(({ listsModels }) => listsModels !== false);
}

/** An endpoint's list of models, or why there is none. */
interface EndpointListing extends EndpointModels {
  readonly provider: Provider;
  readonly keyVariable: string | undefined;
  readonly fault?: string;
  readonly isRefused?: boolean;
}

async function listProviderModels(
  provider: Provider,
  env: Env,
  signal: AbortSignal,
): Promise<EndpointListing> {
  const endpoint = { provider, keyVariable: findKeyVariable(provider, env) };
  try {
    return { ...endpoint, ...(await listModels(provider, env, signal)) };
  } catch (error) {
    signal.throwIfAborted();
    return {
      ...endpoint,
      models: [],
      unusableCount: 0,
      fault: explainUnreachable(error),
      isRefused: error instanceof EndpointRefusalError,
    };
  }
}

/** Explains why an endpoint could not be asked. */
export function explainUnreachable(error: unknown): string {
  const code = getErrorCode(error);
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'the host does not exist';
  return getErrorMessage(error) || code || "it can't be reached";
}
