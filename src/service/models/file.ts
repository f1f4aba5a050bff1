import { FileFault, parseYaml, type YamlReader, type YamlValue } from '../files/yaml-file.ts';
import { type ModelEntry, type Provider, RESERVED_NAMES } from './entry.ts';
import { readModel, readProvider, YamlFields } from './file-entries.ts';
import { InvalidModelsFile, type ModelsFile } from './models-file.ts';

/** Reads `models.yaml`; `known` are providers it may name without describing them. Throws InvalidModelsFile. */
export function parseModelsFile(text: string, file: string, known: readonly Provider[]): ModelsFile {
  const faults: FileFault[] = [];
  const read = gather(faults, () => readModelsFile(text.replace(/^\uFEFF/, ''), known, faults));
  if (read && faults.length === 0) return read;
  const inOrder = faults.sort((a, b) => a.line - b.line);
  throw new InvalidModelsFile(inOrder.map(({ line, what }) => `${file}:${line}: ${what}`));
}

/** What `read` gives; undefined where it throws a fault, which is kept. */
function gather<T>(faults: FileFault[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    faults.push(error);
    return undefined;
  }
}

function readModelsFile(text: string, known: readonly Provider[], faults: FileFault[]): ModelsFile {
  const { root, read } = parseYaml(text);
  const fields = YamlFields.of(root, read, 'the file', ['models', 'providers', 'modelAliases']);
  const described = fields.value('providers');
  const providers = (described ? read.entries(described, 'providers') : []).flatMap(
    entry => gather(faults, () => readProvider(entry, read)) ?? [],
  );
  const byName = new Map([...known, ...providers].map(provider => [provider.name, provider]));
  const list = fields.value('models');
  const items = list ? read.items(list, 'models') : [];
  const models = items.flatMap(item => {
    const entry = gather(faults, () => readModel(item, byName, read));
    return entry ? [{ line: item.line, entry }] : [];
  });
  faults.push(...doubles(models));
  const names = new Set([...RESERVED_NAMES, ...models.map(({ entry }) => entry.model)]);
  return {
    models: models.map(({ entry }) => entry),
    providers,
    aliases: readAliases(fields.value('modelAliases'), { read, names, faults }),
  };
}

function doubles(models: readonly { line: number; entry: ModelEntry }[]): FileFault[] {
  const named = new Set<string>();
  return models.flatMap(({ line, entry: { model } }) => {
    if (named.has(model)) return [new FileFault(line, `the model \`${model}\` is described twice`)];
    named.add(model);
    return [];
  });
}

function readAliases(
  value: YamlValue | undefined,
  { read, names, faults }: { read: YamlReader; names: ReadonlySet<string>; faults: FileFault[] },
): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const { key, line, value: target } of value ? read.entries(value, 'modelAliases') : []) {
    gather(faults, () => {
      const model = read.text(target, `the alias \`${key}\``);
      if (names.has(key)) {
        throw new FileFault(line, `\`${key}\` is a model already: an alias needs another name`);
      }
      if (!names.has(model)) {
        throw new FileFault(line, `there is no model \`${model}\`: there are ${[...names].join(', ')}`);
      }
      aliases.set(key, model);
    });
  }
  return aliases;
}
