import type { ModelEntry } from '../../models/entry.ts';

type Parameters = Record<string, unknown>;

/** Settings that are numbers at the provider's, for callers who can only send texts. */
const NUMBERS = new Set([
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
]);

/** The nearest size image models are known to draw. */
const SIZES: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:2': '1536x1024',
  '4:3': '1536x1024',
  '16:9': '1536x1024',
  '2:3': '1024x1536',
  '3:4': '1024x1536',
  '9:16': '1024x1536',
};

/**
 * Settings as the parameters of a request: typed values stay what they are, texts become numbers where the provider
 * takes a number. One that has no name of its own there goes by its own, in snake case.
 */
export function requestParameters(
  settings: Readonly<Record<string, unknown>>,
  { modality, provider }: ModelEntry,
): Parameters {
  const official = provider !== undefined && new URL(provider.baseUrl).hostname === 'api.openai.com';
  const parameters: Parameters = {};
  for (const [key, value] of Object.entries(settings)) {
    if (value === null || value === undefined) continue;
    parameters[parameterName(key, official)] = parameterValue(key, value);
  }
  return modality === 'image' ? withSize(parameters) : parameters;
}

function parameterName(key: string, official: boolean): string {
  // Other servers mostly know the older name, and the official one no longer takes it.
  if (key === 'maxOutputTokens') return official ? 'max_completion_tokens' : 'max_tokens';
  if (key === 'stopSequences') return 'stop';
  return key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

function parameterValue(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !NUMBERS.has(key) || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

function withSize({ aspect_ratio: ratio, ...rest }: Parameters): Parameters {
  const size = typeof ratio === 'string' ? SIZES[ratio] : undefined;
  if (size === undefined) return ratio === undefined ? rest : { ...rest, aspect_ratio: ratio };
  return { size, ...rest };
}
