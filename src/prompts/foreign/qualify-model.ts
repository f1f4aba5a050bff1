/** Families of models whose names identify the provider. */
const MODEL_FAMILIES: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^(?:gpt-|chatgpt-|o\d)/u, 'openai'],
  [/^claude-/u, 'anthropic'],
  [/^gemini-/u, 'googleai'],
];

/**
 * Returns our name of a model that other tools know without its provider; undefined if its name
 * doesn't identify the provider.
 */
export function qualifyModel(name: string): string | undefined {
  if (name.includes('/')) return undefined;
  const [, provider] = MODEL_FAMILIES.find(([pattern]) => pattern.test(name)) ?? [];
  return provider === undefined ? undefined : `${provider}/${name}`;
}
