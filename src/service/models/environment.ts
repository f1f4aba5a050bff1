import type { Modality, RunOption } from '../../wire/index.ts';
import type { ModelEntry, Provider } from './entry.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** What a run of another's model costs where nothing is said. */
export const DEFAULT_CREDITS: Readonly<Record<Modality, number>> = { text: 2, image: 10, video: 50 };

const EFFORT: RunOption = { key: 'reasoningEffort', options: ['low', 'medium', 'high'] };
const QUALITY: RunOption = { key: 'quality', options: ['low', 'medium', 'high'] };
const SIZE: RunOption = { key: 'size', options: ['1024x1024', '1536x1024', '1024x1536'] };

/** Offered once there is a key; any other goes into models.yaml. */
const OFFERED: readonly { model: string; modality: Modality; runOptions: readonly RunOption[] }[] = [
  { model: 'gpt-5', modality: 'text', runOptions: [EFFORT] },
  { model: 'gpt-5-mini', modality: 'text', runOptions: [EFFORT] },
  { model: 'gpt-4.1', modality: 'text', runOptions: [] },
  { model: 'gpt-4o-mini', modality: 'text', runOptions: [] },
  { model: 'gpt-image-1', modality: 'image', runOptions: [QUALITY, SIZE] },
];

/** The provider that `OPENAI_API_KEY` and `OPENAI_BASE_URL` describe; undefined where neither is set. */
export function environmentProvider(env: Env): Provider | undefined {
  const baseUrl = env['OPENAI_BASE_URL'] || undefined;
  const hasKey = Boolean(env['OPENAI_API_KEY']);
  if (baseUrl === undefined && !hasKey) return undefined;
  return {
    name: 'openai',
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(hasKey ? { apiKeyEnv: 'OPENAI_API_KEY' } : {}),
  };
}

/** Whether a provider is OpenAI itself, whose models are known. */
export function isOfficial({ baseUrl }: Provider): boolean {
  return baseUrl === undefined || (URL.canParse(baseUrl) && new URL(baseUrl).hostname === 'api.openai.com');
}

/** A key opens a known list of models. Without one the endpoint is somebody's own, and only it knows its models. */
export function environmentModels(provider: Provider | undefined): ModelEntry[] {
  if (!provider?.apiKeyEnv) return [];
  return OFFERED.map(offer => modelOf(provider, offer.model, offer.modality, offer.runOptions));
}

/**
 * An endpoint of one's own is never asked for its models, so that starting needs no network: any name that is not
 * known otherwise is taken for one of its models.
 */
export function guessedModel(provider: Provider | undefined, name: string): ModelEntry | undefined {
  if (!provider || isOfficial(provider)) return undefined;
  return modelOf(provider, name, /image|dall-e|diffusion|flux/i.test(name) ? 'image' : 'text', []);
}

function modelOf(
  provider: Provider,
  model: string,
  modality: Modality,
  runOptions: readonly RunOption[],
): ModelEntry {
  return {
    model,
    modality,
    engine: 'openai-compatible',
    provider,
    runOptions,
    credits: DEFAULT_CREDITS[modality],
  };
}
