import { YamlFields } from '../yaml-fields.ts';
import { FileFault, parseYaml } from '../yaml-file.ts';
import type { ModelEntry, Provider } from './entry.ts';
import { readModel } from './file-model.ts';
import { readProvider } from './file-provider.ts';

export const MODELS_FILE = 'models.yaml';

/** A models file that can't be used. The message is `file:line: what`. */
export class InvalidModelsFile extends Error {
  override readonly name = 'InvalidModelsFile';

  constructor(file: string, line: number, what: string) {
    super(`${file}:${line}: ${what}`);
  }
}

/** Reads `models.yaml`; `known` are providers it may name without describing them. Throws InvalidModelsFile. */
export function parseModelsFile(text: string, file: string, known: readonly Provider[]): ModelEntry[] {
  try {
    return readModels(text.replace(/^\uFEFF/, ''), known);
  } catch (error) {
    if (error instanceof FileFault) throw new InvalidModelsFile(file, error.line, error.what);
    throw error;
  }
}

function readModels(text: string, known: readonly Provider[]): ModelEntry[] {
  const { root, read } = parseYaml(text);
  const fields = YamlFields.of(root, read, 'the file', ['models', 'providers']);
  const described = fields.value('providers');
  const own = described ? read.entries(described, 'providers').map(entry => readProvider(entry, read)) : [];
  const providers = new Map([...known, ...own].map(provider => [provider.name, provider]));
  const list = fields.value('models');
  const items = list ? read.items(list, 'models') : [];
  return withoutDoubles(items.map(item => ({ line: item.line, entry: readModel(item, providers, read) })));
}

function withoutDoubles(models: readonly { line: number; entry: ModelEntry }[]): ModelEntry[] {
  const named = new Set<string>();
  for (const { line, entry } of models) {
    if (named.has(entry.model)) throw new FileFault(line, `the model \`${entry.model}\` is described twice`);
    named.add(entry.model);
  }
  return models.map(({ entry }) => entry);
}
