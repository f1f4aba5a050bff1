import type { Modality } from '../../wire/index.ts';
import type { Env } from '../outgoing/proxy.ts';
import type { ModelEntry, Provider } from './entry.ts';

/** What a run of another's model costs where nothing is said. */
export const DEFAULT_CREDITS: Readonly<Record<Modality, number>> = { text: 2, image: 10, video: 50 };

/** What `models.yaml` may name without describing it. */
export const OPENAI: Provider = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  apiKeyEnv: 'OPENAI_API_KEY',
};

/**
 * The provider that `OPENAI_API_KEY` and `OPENAI_BASE_URL` describe; undefined where neither is set.
 *
 * @throws {Error} for an `OPENAI_BASE_URL` that is not an http or https URL
 */
export function environmentProvider(env: Env): Provider | undefined {
  const baseUrl = env['OPENAI_BASE_URL']?.trim() || undefined;
  const hasKey = Boolean(env['OPENAI_API_KEY']?.trim());
  if (baseUrl === undefined && !hasKey) return undefined;
  const fault = baseUrlFault(baseUrl ?? OPENAI.baseUrl);
  if (fault !== undefined) throw new Error(`OPENAI_BASE_URL ${fault}`);
  return {
    name: OPENAI.name,
    baseUrl: baseUrl ?? OPENAI.baseUrl,
    ...(hasKey ? { apiKeyEnv: 'OPENAI_API_KEY' } : {}),
  };
}

/** What is wrong with a base URL, as a sentence that begins after its name; undefined where nothing is. */
export function baseUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https URL, such as https://host/v1';
  if (url.username !== '' || url.password !== '') return 'can’t carry a user name or password';
  return url.search === '' && url.hash === '' ? undefined : 'can’t carry a ? or a #';
}

/** Whether a provider is OpenAI itself. */
export function isOfficial({ baseUrl }: Provider): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com';
}

/**
 * An endpoint of one's own is not asked for its models, so that starting needs no network: any name that is not known
 * otherwise is taken for one of its models.
 */
export function guessedModel(provider: Provider | undefined, name: string): ModelEntry | undefined {
  if (!provider || isOfficial(provider)) return undefined;
  return modelOf(provider, name, guessedModality(name));
}

/** What a model makes, by its name alone. */
export function guessedModality(name: string): 'text' | 'image' {
  return /image|dall-e|diffusion|flux/i.test(name) ? 'image' : 'text';
}

function modelOf(provider: Provider, model: string, modality: Modality): ModelEntry {
  return {
    model,
    modality,
    engine: 'openai-compatible',
    provider,
    runOptions: [],
    guessed: true,
    credits: DEFAULT_CREDITS[modality],
  };
}
