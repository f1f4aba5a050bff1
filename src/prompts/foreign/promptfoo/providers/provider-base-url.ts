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
export const LIKE_OPENAI: readonly OpenAiLikeProvider[] = [
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
  /** The path of an address that is only a host; promptfoo adds Azure's to every address. */
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
 * Returns true if the address in the `config` of a provider is converted. promptfoo takes none for
 * Ollama from there.
 */
export function takesAddress(id: string): boolean {
  return id.startsWith('ollama:') || ADDRESSABLE_PROVIDERS.some(({ prefix }) => prefix.test(id));
}

/** Returns the provider for a models file, if its address is not one that we know. */
export function findProviderAddress(
  id: string,
  config: YamlValue | undefined,
  { addressProviders }: Pick<ConversionContext, 'addressProviders'>,
): PromptfooAddress | undefined {
  const openAiLike = LIKE_OPENAI.find(({ prefix }) => prefix.test(id));
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
  const isWhole = hasScheme && (engine !== 'azure' || trimmedUrl.endsWith(path));
  const address = `${hasScheme ? '' : 'https://'}${trimmedUrl}${isWhole ? '' : path}`;
  if (!URL.canParse(address) || address === ownBaseUrl) return undefined;

  const name = new URL(address).host.replace(/[^a-z\d]+/gu, '-').replace(/^-|-$/gu, '');
  const keyVariable = /^\{\{\s*env\.(\w+)\s*\}\}$/u.exec(entries.get('apiKey')?.scalar ?? '')?.[1];
  const apiKeyEnv = entries.get('apiKeyEnvar')?.scalar ?? keyVariable ?? provider.apiKeyEnv;
  const entry = { baseUrl: address, engine, ...(apiKeyEnv !== undefined && { apiKeyEnv }) };

  return { name: chooseHostName(name, entry, addressProviders), entry };
}

/**
 * Returns a name that neither a built-in provider nor a provider with another address or key has.
 */
function chooseHostName(
  host: string,
  entry: JsonObject,
  addressProviders: ConversionContext['addressProviders'],
): string {
  // Names of built-in providers are single words.
  const name = host.includes('-') ? host : `${host}-address`;
  const content = JSON.stringify(entry);
  const freeName = findUnusedName(
    name,
    candidate => (addressProviders.get(candidate) ?? content) === content,
  );
  addressProviders.set(freeName, content);
  return freeName;
}
