import { listSentVariables } from '../declared-model.ts';
import { listKnownProviders } from '../providers/providers.ts';
import { EMPTY_MODELS_FILE, mergeModelsFiles } from './models-file.ts';
import { type ModelSources, readModelsFile, readNamedModels } from './read-models-file.ts';

/**
 * Returns the names of the environment variables that hold keys; includes those from models.yaml
 * if it can be read.
 */
export async function collectKeyVariables(sources: ModelSources): Promise<readonly string[]> {
  const knownProviders = listKnownProviders(sources.env);
  // A file that can't be read is reported where its models are needed.
  const { content: base } = await readModelsFile(sources).catch(() => ({
    content: EMPTY_MODELS_FILE,
  }));
  const { providers, models } = mergeModelsFiles(
    base,
    await readNamedModels(sources, base, knownProviders),
  );

  return [
    ...new Set([
      ...[...providers, ...knownProviders].flatMap(provider => provider.keyVariables),
      ...models.flatMap(({ declaration }) => (declaration ? listSentVariables(declaration) : [])),
    ]),
  ];
}

/** A shorter key is a placeholder, such as `ollama`, which may occur in an answer as a word. */
const MIN_SECRET_LENGTH = 16;

/** Returns the secret keys of providers and addresses that are set. No answer may show them. */
export async function collectSecretKeys(sources: ModelSources): Promise<readonly string[]> {
  const values = (await collectKeyVariables(sources)).flatMap(
    name => sources.env[name]?.trim() ?? [],
  );
  return values.filter(({ length }) => length >= MIN_SECRET_LENGTH);
}
