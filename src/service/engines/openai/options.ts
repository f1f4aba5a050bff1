import type { ModelEntry } from '../../models/entry.ts';
import { isOfficial } from '../../models/environment.ts';

type Parameters = Record<string, string | number>;

/** Run options whose value is a number where it goes. */
const NUMBERS = new Set([
  'temperature',
  'topP',
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

/** Run options as the parameters of a request; one that has no name of its own there goes by its own, in snake case. */
export function requestParameters(
  runOptions: Readonly<Record<string, string>>,
  { modality, provider }: ModelEntry,
): Parameters {
  const official = provider !== undefined && isOfficial(provider);
  const parameters: Parameters = {};
  for (const [key, value] of Object.entries(runOptions)) {
    const number = NUMBERS.has(key) && value.trim() !== '' ? Number(value) : Number.NaN;
    parameters[parameterName(key, official)] = Number.isFinite(number) ? number : value;
  }
  return modality === 'image' ? withSize(parameters) : parameters;
}

function parameterName(key: string, official: boolean): string {
  // Other servers mostly know the older name, and the official one no longer takes it.
  if (key === 'maxOutputTokens') return official ? 'max_completion_tokens' : 'max_tokens';
  return key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

function withSize({ aspect_ratio: ratio, ...rest }: Parameters): Parameters {
  const size = ratio === undefined ? undefined : SIZES[ratio];
  if (size === undefined) return ratio === undefined ? rest : { ...rest, aspect_ratio: ratio };
  return { size, ...rest };
}
