import path from 'node:path';
import { type JsonObject, type JsonValue, ownValue } from '../../files/formats/json.ts';
import { parseYaml } from '../../files/formats/yaml.ts';
import { isJsonObject, listAt, textAt } from '../../utils/bounded-json.ts';
import { MODELS_FILE, readModelsText, readNamedModelsText } from './models-file.ts';
import type { ModelSources } from './read-models-file.ts';

/** The names that models files describe. */
export interface DescribedNames {
  readonly models: readonly string[];
  /** The entries of providers by name. */
  readonly providers: JsonObject;
}

/** Returns the names in all models files. Leaves out a file that can't be read: whoever uses its models reports that. */
export async function describedNames({
  dataDir,
  modelsFile,
  declaredModels = [],
}: Omit<ModelSources, 'env'>): Promise<DescribedNames> {
  const ownText = await readModelsText(path.join(dataDir, MODELS_FILE)).catch(() => undefined);
  const namedText =
    modelsFile === undefined ? undefined : await readNamedModelsText(modelsFile).catch(() => undefined);
  const files = [ownText, namedText, ...declaredModels.map(({ text }) => text)].map(parseOrNull);
  return {
    models: files.flatMap(file => listAt(file, 'models').flatMap(item => textAt(item, 'model') ?? [])),
    providers: Object.fromEntries(files.flatMap(providersIn)),
  };
}

function parseOrNull(text: string | undefined): JsonValue {
  try {
    return text === undefined ? null : parseYaml(text).json();
  } catch {
    return null;
  }
}

function providersIn(file: JsonValue): [string, JsonValue][] {
  const providers = ownValue(file, 'providers');
  return isJsonObject(providers) ? Object.entries(providers) : [];
}
