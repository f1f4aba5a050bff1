import path from 'node:path';
import { FileFault } from '../../files/formats/file-fault.ts';
import { parseYaml, type YamlEntry, type YamlValue } from '../../files/formats/yaml.ts';
import { YamlFields } from '../../files/formats/yaml-fields.ts';
import type { Env } from '../../utils/env.ts';
import type { DeclaredProgram } from '../declared-model.ts';
import { type ModelEntry, type Provider, RESERVED_MODEL_NAMES } from '../model-entry.ts';
import {
  listKnownProviders,
  resolveProviderName,
  splitProviderPrefix,
} from '../providers/providers.ts';
import {
  EMPTY_MODELS_FILE,
  InvalidModelsFileError,
  MODELS_FILE,
  type ModelsFile,
  type ModelsText,
  mergeModelsFiles,
  readModelsText,
  readNamedModelsText,
} from './models-file.ts';
import { readModel } from './read-model.ts';
import { readProvider } from './read-provider.ts';

export interface ModelSources {
  readonly dataDir: string;
  /** The absolute path of a file with more models. */
  readonly modelsFile?: string | undefined;
  /** Models that a configuration of another tool declares. */
  readonly declaredModels?: readonly ModelsText[] | undefined;
  /** The environment, with the providers' keys and addresses and the proxies. */
  readonly env: Env;
}

/**
 * Reads the `models.yaml` of a data directory; its text is undefined if there is none.
 *
 * @throws {InvalidModelsFileError} if it can't be read at all
 */
export async function readModelsFile({ dataDir, env }: ModelSources): Promise<{
  readonly file: string;
  readonly text: string | undefined;
  readonly content: ModelsFile;
}> {
  const file = path.join(dataDir, MODELS_FILE);
  const text = await readModelsText(file);
  const content =
    text === undefined ? EMPTY_MODELS_FILE : parseModelsFile(text, file, listKnownProviders(env));
  return { file, text, content };
}

/**
 * Reads a models file that the user named, and the models that a configuration declares.
 *
 * @param base the content of `models.yaml`, whose providers the file may use
 * @throws {InvalidModelsFileError} if it can't be read at all
 */
export async function readNamedModels(
  { modelsFile, declaredModels = [] }: Pick<ModelSources, 'modelsFile' | 'declaredModels'>,
  base: ModelsFile,
  builtInProviders: readonly Provider[],
): Promise<ModelsFile> {
  const namesInBase = new Set(base.providers.map(({ name }) => name));
  const predefinedProviders = [
    ...builtInProviders.filter(({ name }) => !namesInBase.has(name)),
    ...base.providers,
  ];
  const declaredFiles = declaredModels.map(({ text, file }) =>
    adaptToPromptfoo(parseModelsFile(text, file, predefinedProviders)),
  );
  const namedModels =
    modelsFile === undefined
      ? EMPTY_MODELS_FILE
      : parseModelsFile(await readNamedModelsText(modelsFile), modelsFile, predefinedProviders);

  return declaredFiles.reduce(mergeModelsFiles, namedModels);
}

/**
 * Adapts models that a promptfoo configuration declares: their addresses get chats as JSON, and
 * programs that read their runs from standard input stay between runs.
 */
function adaptToPromptfoo(file: ModelsFile): ModelsFile {
  const models = file.models.map((entry): ModelEntry => {
    const { declaration } = entry;
    if (declaration?.kind === 'address') {
      return { ...entry, declaration: { ...declaration, sendsChatAsJson: true } };
    }

    if (declaration?.kind === 'program' && readsRunsFromInput(declaration)) {
      return { ...entry, declaration: { ...declaration, isPersistent: true } };
    }

    return entry;
  });
  return { ...file, models };
}

function readsRunsFromInput({ placeholders }: DeclaredProgram): boolean {
  return placeholders.every(({ name }) => name === 'here');
}

/** @throws {InvalidModelsFileError} if `models.yaml` has any fault */
export async function checkModelsFile(sources: ModelSources): Promise<void> {
  const { content } = await readModelsFile(sources);
  if (content.faults.length > 0) throw new InvalidModelsFileError(content.faults);
}

/**
 * Reads `models.yaml`. Leaves out entries with a fault, but no others.
 *
 * @param predefinedProviders the providers that it may use without describing them
 * @throws {InvalidModelsFileError} if it is not YAML, or not a map
 */
export function parseModelsFile(
  text: string,
  file: string,
  predefinedProviders: readonly Provider[],
): ModelsFile {
  const faults: FileFault[] = [];
  const textWithoutBom = text.replace(/^\uFEFF/, '');
  const context = { faults, folder: path.dirname(file) };
  const content = tryRead(faults, () =>
    readValidEntries(textWithoutBom, predefinedProviders, context),
  );
  const messages = faults
    .toSorted((one, other) => one.line - other.line)
    .map(({ line, problem }) => `${file}:${line}: ${problem}`);
  if (!content) throw new InvalidModelsFileError(messages);

  return { ...content, faults: messages };
}

/** The state of reading a file. */
interface ModelsFileContext {
  readonly faults: FileFault[];
  readonly folder: string;
}

function readValidEntries(
  text: string,
  predefinedProviders: readonly Provider[],
  context: ModelsFileContext,
): Omit<ModelsFile, 'faults'> {
  const { faults } = context;
  const fields = YamlFields.read(
    parseYaml(text),
    'the file',
    ['models', 'providers', 'modelAliases'],
    { faults },
  );

  const { providers, brokenProviderNames } = readProviders(
    fields.findValue('providers'),
    predefinedProviders,
    faults,
  );
  const usableProviders = new Map(
    [...predefinedProviders, ...providers].map(provider => [provider.name, provider]),
  );
  for (const name of brokenProviderNames) usableProviders.delete(name);

  const { models, brokenModels } = readModels(fields.findValue('models'), usableProviders, context);

  const { aliases, brokenAliases } = readAliases(
    fields.findValue('modelAliases'),
    { models, providers: usableProviders },
    faults,
  );

  return {
    models: [...models.values()],
    providers,
    brokenProviderNames,
    brokenNames: new Set([...brokenModels, ...brokenAliases]),
    aliases,
  };
}

function readProviders(
  value: YamlValue | undefined,
  predefinedProviders: readonly Provider[],
  faults: FileFault[],
): { readonly providers: Provider[]; readonly brokenProviderNames: ReadonlySet<string> } {
  const entries = readList(faults, value, list => list.readEntries('providers', faults));
  const predefinedByName = new Map(predefinedProviders.map(provider => [provider.name, provider]));
  const providers = entries.flatMap(
    entry => tryRead(faults, () => readProvider(entry, predefinedByName)) ?? [],
  );
  const validNames = new Set(providers.map(({ name }) => name));
  const brokenProviderNames = new Set(
    entries.map(({ key }) => key).filter(key => !validNames.has(key)),
  );

  return { providers, brokenProviderNames };
}

function readModels(
  value: YamlValue | undefined,
  providers: ReadonlyMap<string, Provider>,
  { faults, folder }: ModelsFileContext,
): { readonly models: ReadonlyMap<string, ModelEntry>; readonly brokenModels: readonly string[] } {
  const models = new Map<string, ModelEntry>();
  const readItem = (item: YamlValue): string => {
    const entry = readModel(item, providers, folder);
    const { model } = entry;
    if (models.has(model)) {
      throw new FileFault(item.line, `the model \`${model}\` is described twice`);
    }
    models.set(model, entry);
    return model;
  };

  const readModelName = (item: YamlValue): string | undefined =>
    item.readValuesByKey('a model').get('model')?.readText('model');

  const brokenModels: string[] = [];
  for (const item of readList(faults, value, list => list.readItems('models'))) {
    const name = tryRead(faults, () => readItem(item)) ?? tryRead([], () => readModelName(item));
    if (name !== undefined && !models.has(name)) brokenModels.push(name);
  }

  return { models, brokenModels };
}

function readAliases(
  value: YamlValue | undefined,
  {
    models,
    providers,
  }: {
    readonly models: ReadonlyMap<string, ModelEntry>;
    readonly providers: ReadonlyMap<string, Provider>;
  },
  faults: FileFault[],
): { readonly aliases: ReadonlyMap<string, string>; readonly brokenAliases: readonly string[] } {
  const modelNames = new Set([...RESERVED_MODEL_NAMES, ...models.keys()]);
  const isModel = (name: string): boolean => {
    const parts = splitProviderPrefix(name);
    return (
      modelNames.has(name) ||
      (parts !== undefined && providers.has(resolveProviderName(parts.prefix)))
    );
  };

  const aliases = new Map<string, string>();
  const brokenAliases: string[] = [];
  for (const entry of readList(faults, value, list => list.readEntries('modelAliases', faults))) {
    const model = tryRead(faults, () => readAlias(entry, { modelNames, isModel }));
    if (model !== undefined) {
      aliases.set(entry.key, model);
    } else if (!models.has(entry.key)) {
      brokenAliases.push(entry.key);
    }
  }

  return { aliases, brokenAliases };
}

/** Returns the result of `read`. If it throws a fault, adds that to `faults` and returns undefined. */
function tryRead<T>(faults: FileFault[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    faults.push(error);
    return undefined;
  }
}

/** Reads a list of the file; empty if it is missing or can't be read. */
function readList<T>(
  faults: FileFault[],
  value: YamlValue | undefined,
  read: (value: YamlValue) => T[],
): T[] {
  if (value === undefined) return [];
  return tryRead(faults, () => read(value)) ?? [];
}

function readAlias(
  { key, line, value }: YamlEntry,
  { modelNames, isModel }: { modelNames: ReadonlySet<string>; isModel: (name: string) => boolean },
): string {
  const model = value.readText(`the alias \`${key}\``);

  if (modelNames.has(key)) {
    throw new FileFault(line, `\`${key}\` is a model already: an alias needs another name`);
  }

  if (isModel(model)) return model;
  throw new FileFault(
    line,
    `the model \`${model}\` does not exist; the models are ${[...modelNames].join(', ')}`,
  );
}
