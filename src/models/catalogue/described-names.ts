import path from 'node:path';
import { findOwnValue, type JsonObject, type JsonValue } from '../../files/formats/json.ts';
import { parseYaml } from '../../files/formats/yaml.ts';
import { isJsonObject, readListAt, readTextAt } from '../../utils/bounded-json.ts';
import { MODELS_FILE, readModelsText, readNamedModelsText } from './models-file.ts';
import type { ModelSources } from './read-models-file.ts';

/** The names that models files describe. */
export interface DescribedNames {
  readonly models: readonly string[];
  /** The entries of providers by name. */
  readonly providers: JsonObject;
}

/**
 * Returns the names in all models files. Leaves out a file that can't be read: whoever uses its
 * models reports that.
 */
export async function readDescribedNames({
  dataDir,
  modelsFile,
  declaredModels = [],
}: Omit<ModelSources, 'env'>): Promise<DescribedNames> {
  const ownText = await readModelsText(path.join(dataDir, MODELS_FILE)).catch(() => undefined);
  const namedText =
    modelsFile === undefined
      ? undefined
      : await readNamedModelsText(modelsFile).catch(() => undefined);
  const files = [ownText, namedText, ...declaredModels.map(({ text }) => text)].map(
    parseYamlOrNull,
  );

  return {
    models: files.flatMap(file =>
      readListAt(file, 'models').flatMap(item => readTextAt(item, 'model') ?? []),
    ),
    providers: Object.fromEntries(files.flatMap(listProviderEntries)),
  };
}

function parseYamlOrNull(text: string | undefined): JsonValue {
  try {
    return text === undefined ? null : parseYaml(text).toJson();
  } catch {
    return null;
  }
}

function listProviderEntries(file: JsonValue): [string, JsonValue][] {
  const providers = findOwnValue(file, 'providers');
  return isJsonObject(providers) ? Object.entries(providers) : [];
}
