import type { JsonObject } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import type { PromptfooAddress } from './promptfoo-provider.ts';
import { findUnusedName } from './unused-name.ts';

interface OpenAiLikeProvider {
  readonly prefix: RegExp;
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKeyEnv: string;
}

/** Providers that answer like OpenAI, at their addresses. */
export const OPENAI_LIKE_PROVIDERS: readonly OpenAiLikeProvider[] = [
  {
    prefix: /^(?:huggingface|hf):chat:/u,
    name: 'huggingface',
    baseUrl: 'https://router.huggingface.co/v1',
    apiKeyEnv: 'HF_TOKEN',
  },
  {
    prefix: /^perplexity:/u,
    name: 'perplexity',
    baseUrl: 'https://api.perplexity.ai',
    apiKeyEnv: 'PERPLEXITY_API_KEY',
  },
];

/** Keys of a `config` with the address of a provider. */
export const ADDRESS_KEYS = ['apiBaseUrl', 'apiHost', 'baseUrl', 'baseURL'];

interface AddressableProvider {
  readonly prefix: RegExp;
  readonly engine: string;
  /** The address of the provider itself, if it has one for everybody. */
  readonly ownBaseUrl?: string;
  /** The path that is added to an address without a scheme; for Azure, to every address. */
  readonly path: string;
  readonly apiKeyEnv?: string;
}

/** Providers whose address a `config` may set. */
const ADDRESSABLE_PROVIDERS: readonly AddressableProvider[] = [
  { prefix: /^openai:/u, engine: 'openai', ownBaseUrl: 'https://api.openai.com/v1', path: '/v1' },
  {
    prefix: /^openrouter:/u,
    engine: 'openai',
    ownBaseUrl: 'https://openrouter.ai/api/v1',
    path: '/v1',
  },
  {
    prefix: /^azure(?:openai)?:/u,
    engine: 'azure',
    path: '/openai/v1',
    apiKeyEnv: 'AZURE_API_KEY',
  },
];

/**
 * Returns true if a `config` may set the provider's address. For Ollama it may, without effect:
 * promptfoo ignores it too.
 */
export function allowsAddressKey(id: string): boolean {
  return id.startsWith('ollama:') || ADDRESSABLE_PROVIDERS.some(({ prefix }) => prefix.test(id));
}

/**
 * Returns the entry of a models file for a provider that is like OpenAI, or whose `config` sets
 * another address than its own; undefined for all others.
 */
export function findProviderEntry(
  id: string,
  config: YamlValue | undefined,
  { addressProviders }: Pick<ConversionContext, 'addressProviders'>,
): PromptfooAddress | undefined {
  const openAiLike = OPENAI_LIKE_PROVIDERS.find(({ prefix }) => prefix.test(id));
  if (openAiLike) {
    const { name, baseUrl, apiKeyEnv } = openAiLike;
    return { name, entry: { baseUrl, engine: 'openai', apiKeyEnv } };
  }

  const provider = ADDRESSABLE_PROVIDERS.find(({ prefix }) => prefix.test(id));
  if (!config || !provider) return undefined;

  const { engine, ownBaseUrl, path } = provider;
  const entries = readMergedValues(config, 'config');
  const [configuredUrl] = ADDRESS_KEYS.flatMap(key => entries.get(key)?.scalar ?? []);
  if (configuredUrl === undefined) return undefined;

  const trimmedUrl = configuredUrl.replace(/\/$/u, '');
  const hasScheme = /^https?:\/\//u.test(trimmedUrl);
  const isComplete = hasScheme && (engine !== 'azure' || trimmedUrl.endsWith(path));
  const baseUrl = `${hasScheme ? '' : 'https://'}${trimmedUrl}${isComplete ? '' : path}`;
  if (!URL.canParse(baseUrl) || baseUrl === ownBaseUrl) return undefined;

  const name = new URL(baseUrl).host.replace(/[^a-z\d]+/gu, '-').replace(/^-|-$/gu, '');
  // A key that is written out is not kept: the entry then uses the provider's own variable.
  const keyVariable = /^\{\{\s*env\.(\w+)\s*\}\}$/u.exec(entries.get('apiKey')?.scalar ?? '')?.[1];
  const apiKeyEnv = entries.get('apiKeyEnvar')?.scalar ?? keyVariable ?? provider.apiKeyEnv;
  const entry = { baseUrl, engine, ...(apiKeyEnv !== undefined && { apiKeyEnv }) };

  return { name: registerProviderName(name, entry, addressProviders), entry };
}

/**
 * Registers an entry under a name that neither a built-in provider nor a provider with another
 * address or key has, and returns the name.
 */
function registerProviderName(
  hostName: string,
  entry: JsonObject,
  addressProviders: ConversionContext['addressProviders'],
): string {
  // Names of built-in providers are single words.
  const name = hostName.includes('-') ? hostName : `${hostName}-address`;
  const serialisedEntry = JSON.stringify(entry);
  const freeName = findUnusedName(
    name,
    candidate => (addressProviders.get(candidate) ?? serialisedEntry) === serialisedEntry,
  );
  addressProviders.set(freeName, serialisedEntry);
  return freeName;
}
