import { sentVariables } from '../declared-model.ts';
import { knownProviders } from '../providers/providers.ts';
import { EMPTY_MODELS_FILE, mergedModels } from './models-file.ts';
import { type ModelSources, readModelsFile, readNamedModels } from './read-models-file.ts';

/** Returns the variables of all providers' keys; those in models.yaml if it can be read. */
export async function keyVariables(sources: ModelSources): Promise<readonly string[]> {
  const allProviders = knownProviders(sources.env);
  const { described: base } = await readModelsFile(sources).catch(() => ({ described: EMPTY_MODELS_FILE }));
  const { providers, models } = mergedModels(base, await readNamedModels(sources, base, allProviders));
  return [
    ...new Set([
      ...[...providers, ...allProviders].flatMap(provider => provider.keyVariables),
      ...models.flatMap(({ declared }) => (declared ? sentVariables(declared) : [])),
    ]),
  ];
}

/** A shorter key is a placeholder, such as `ollama`, and its letters may be words of an answer. */
const MIN_LITERAL_KEY_LENGTH = 16;

/** Returns the keys of providers and addresses that are set and secret, which no answer may show. */
export async function secretKeys(sources: ModelSources): Promise<readonly string[]> {
  const values = (await keyVariables(sources)).flatMap(name => sources.env[name]?.trim() ?? []);
  return values.filter(({ length }) => length >= MIN_LITERAL_KEY_LENGTH);
}
