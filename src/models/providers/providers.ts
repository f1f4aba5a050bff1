import { isLoopbackHost } from '../../wire/addresses.ts';
import type { Modality } from '../../wire/index.ts';
import type { ModelEntry, Provider } from '../entry.ts';
import type { Env } from '../outgoing/proxy.ts';

interface ProviderData {
  readonly name: string;
  /** Where it is unless `<NAME>_BASE_URL` says otherwise. */
  readonly baseUrl: string;
  /** The variables that hold its key, as its own tools have them; the first that is set counts. None: it wants no key. */
  readonly keys?: readonly string[];
  /** Default `openai`. */
  readonly engine?: Provider['engine'];
  /** Other prefixes of its models. */
  readonly aliases?: readonly string[];
  /** What its `_BASE_URL` begins with, if that is not its name. */
  readonly variable?: string;
  /** Whether its models can be asked in batches at a lower price. */
  readonly batch?: boolean;
}

/** The providers that are known by name: a prefix such as `groq/` is enough to run a model of theirs. */
const PROVIDERS: readonly ProviderData[] = [
  { name: 'openai', baseUrl: 'https://api.openai.com/v1', keys: ['OPENAI_API_KEY'], batch: true },
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keys: ['ANTHROPIC_API_KEY'],
    engine: 'anthropic',
    batch: true,
  },
  {
    name: 'googleai',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    aliases: ['google', 'gemini'],
    variable: 'GEMINI',
  },
  { name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1', keys: ['OPENROUTER_API_KEY'] },
  { name: 'groq', baseUrl: 'https://api.groq.com/openai/v1', keys: ['GROQ_API_KEY'] },
  { name: 'mistral', baseUrl: 'https://api.mistral.ai/v1', keys: ['MISTRAL_API_KEY'] },
  { name: 'deepseek', baseUrl: 'https://api.deepseek.com/v1', keys: ['DEEPSEEK_API_KEY'] },
  { name: 'xai', baseUrl: 'https://api.x.ai/v1', keys: ['XAI_API_KEY'] },
  { name: 'together', baseUrl: 'https://api.together.xyz/v1', keys: ['TOGETHER_API_KEY'] },
  { name: 'fireworks', baseUrl: 'https://api.fireworks.ai/inference/v1', keys: ['FIREWORKS_API_KEY'] },
  { name: 'cerebras', baseUrl: 'https://api.cerebras.ai/v1', keys: ['CEREBRAS_API_KEY'] },
  { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'llamacpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { name: 'vllm', baseUrl: 'http://127.0.0.1:8000/v1' },
];

/** Prefixes that are refused, with the reason. */
export const REFUSED_PREFIXES: ReadonlyMap<string, string> = new Map([
  [
    'vertexai',
    'Vertex AI takes no API key but the credentials of a Google Cloud project; use googleai/ with GEMINI_API_KEY',
  ],
]);

/** The providers that are known, as the environment has them, in the order in which they are listed. */
export function knownProviders(env: Env): readonly Provider[] {
  return PROVIDERS.map(data => providerOf(data, env));
}

/** The known provider's name that a prefix stands for. */
export function providerName(prefix: string): string {
  return PROVIDERS.find(({ aliases }) => aliases?.includes(prefix))?.name ?? prefix;
}

function providerOf(data: ProviderData, env: Env): Provider {
  const { name, keys = [], engine = 'openai', batch = false } = data;
  const variable = baseUrlVariable(data);
  const moved = addressIn(data, env);
  const fault = moved === undefined ? undefined : baseUrlFault(moved);
  const isOwn = moved !== undefined && fault === undefined && isLoopbackHost(new URL(moved).hostname);
  return {
    name,
    baseUrl: moved === undefined ? data.baseUrl : addressOf(data, moved),
    engine,
    keyVariables: keys,
    needsKey: keys.length > 0 && !isOwn,
    batch,
    ...(moved === undefined ? {} : { isMoved: true }),
    ...(fault === undefined ? {} : { fault: `${variable} ${fault}` }),
  };
}

function baseUrlVariable({ name, variable = name }: ProviderData): string {
  return `${variable.toUpperCase()}_BASE_URL`;
}

/** Where the environment says that a provider is. */
function addressIn(data: ProviderData, env: Env): string | undefined {
  const address = env[baseUrlVariable(data)]?.trim() || undefined;
  return address ?? (data.name === 'ollama' ? ollamaAddress(env) : undefined);
}

/** `OLLAMA_HOST` is a host, with or without a scheme and a port. */
function ollamaAddress(env: Env): string | undefined {
  const host = env['OLLAMA_HOST']?.trim().replace(/^0\.0\.0\.0/, '127.0.0.1');
  if (!host) return undefined;
  if (host.includes('://')) return host;
  const text = `http://${host}`;
  return URL.canParse(text) && new URL(text).port === '' && !host.endsWith(':80')
    ? `${text.replace(/\/$/, '')}:11434`
    : text;
}

/** Tools give the address of some providers with the path of the interface, of others without. */
function addressOf({ engine, name, baseUrl }: ProviderData, address: string): string {
  if (engine === 'anthropic') return address.replace(/\/v1\/*$/, '');
  if (name === 'openai' || !URL.canParse(address) || new URL(address).pathname !== '/') return address;
  return new URL(new URL(baseUrl).pathname, address).href;
}

/** What is wrong with a base URL, as a sentence that begins after its name; undefined if nothing is. */
export function baseUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https URL, such as https://host/v1';
  if (url.username !== '' || url.password !== '') return 'can’t carry a user name or password';
  return url.search === '' && url.hash === '' ? undefined : 'can’t carry a ? or a #';
}

/** The key of a provider, without blanks around it; undefined if none of its variables holds one. */
export function keyOf({ keyVariables }: Provider, env: Env): string | undefined {
  const variable = keyVariable({ keyVariables }, env);
  return variable === undefined ? undefined : env[variable]?.trim();
}

/** The variable that holds the key of a provider; undefined if none does. */
export function keyVariable({ keyVariables }: Pick<Provider, 'keyVariables'>, env: Env): string | undefined {
  return keyVariables.find(name => Boolean(env[name]?.trim()));
}

/** Why nothing can be sent to a provider as things stand. */
export interface AccessFault {
  /** `key`: it has none; `configuration`: what is there can't be used. */
  readonly kind: 'key' | 'configuration';
  readonly message: string;
}

/** What keeps a provider from being asked; undefined if nothing does. */
export function accessFault(provider: Provider, env: Env): AccessFault | undefined {
  const { name, baseUrl, needsKey, keyVariables, fault } = provider;
  if (fault !== undefined) return { kind: 'configuration', message: fault };
  const variable = keyVariable(provider, env);
  if (variable === undefined) {
    const message = `no key for ${name}: set ${keyVariables.join(' or ')}`;
    return needsKey ? { kind: 'key', message } : undefined;
  }
  if (!/^[\x21-\x7e]+$/.test(env[variable]?.trim() ?? '')) {
    return {
      kind: 'configuration',
      message: `the key in ${variable} can’t be sent: it holds a blank, a line break or something else that is not visible ASCII`,
    };
  }
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:' || isLoopbackHost(hostname)) return undefined;
  return {
    kind: 'configuration',
    message: `the key of ${name} would travel in the clear to ${hostname}: give it an address that begins with https://`,
  };
}

/** What a run of another's model costs where nothing is said, in credits. */
export const DEFAULT_CREDITS: Readonly<Record<Modality, number>> = { text: 2, image: 10, video: 50 };

/** The known providers with a key that somebody means to use: it is set, or an address that needs none, or is none. */
export function configuredProviders(env: Env): readonly Provider[] {
  return knownProviders(env).filter(provider => {
    const { keyVariables, isMoved = false, needsKey, fault } = provider;
    const isUsable = keyVariable(provider, env) !== undefined || (isMoved && !needsKey);
    return keyVariables.length > 0 && (isUsable || fault !== undefined);
  });
}

/** What a model makes, by its name alone. */
export function guessedModality(name: string): 'text' | 'image' {
  return /image|dall-e|diffusion|flux/i.test(name) ? 'image' : 'text';
}

/** A model that nobody described, as one of a provider's. */
export function guessedModel(
  provider: Provider,
  model: string,
  { id, by }: { id: string; by: 'prefix' | 'key' },
): ModelEntry {
  const modality = guessedModality(id);
  return {
    model,
    modality,
    engine: provider.engine,
    provider,
    id,
    runOptions: [],
    guessed: by,
    credits: DEFAULT_CREDITS[modality],
  };
}
