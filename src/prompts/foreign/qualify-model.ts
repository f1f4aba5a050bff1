/** Families of models whose names identify the provider. */
const FAMILIES: readonly (readonly [name: RegExp, provider: string])[] = [
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
  const [, provider] = FAMILIES.find(([family]) => family.test(name)) ?? [];
  return provider === undefined ? undefined : `${provider}/${name}`;
}
