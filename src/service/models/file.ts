import type { Modality, RunOption } from '../../wire/index.ts';
import { YamlFields } from '../files/yaml-fields.ts';
import { FileFault, parseYaml, type YamlEntry, type YamlReader, type YamlValue } from '../files/yaml-file.ts';
import { RESERVED_NAMES } from './built-in.ts';
import type { ModelEntry, Provider } from './entry.ts';
import { DEFAULT_CREDITS } from './environment.ts';

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

const ENVIRONMENT_VARIABLE = /^[A-Za-z_]\w*$/;

/** Reads an entry of `providers`. Throws FileFault. */
function readProvider({ key: name, line, value }: YamlEntry, read: YamlReader): Provider {
  const fields = YamlFields.of({ ...value, line }, read, `the provider \`${name}\``, [
    'baseUrl',
    'apiKeyEnv',
  ]);
  const baseUrl = fields.required('baseUrl');
  const fault = urlFault(baseUrl);
  if (fault !== undefined) throw fields.fault('baseUrl', fault);
  const apiKeyEnv = fields.text('apiKeyEnv');
  if (apiKeyEnv === undefined) return { name, baseUrl };
  if (ENVIRONMENT_VARIABLE.test(apiKeyEnv)) return { name, baseUrl, apiKeyEnv };
  throw fields.fault(
    'apiKeyEnv',
    'apiKeyEnv names the environment variable that holds the key; the key itself does not belong in this file',
  );
}

function urlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'baseUrl must be an http or https URL';
  return url.username === '' && url.password === ''
    ? undefined
    : 'baseUrl can’t carry a user name or password';
}

const MODEL_FIELDS = ['model', 'modality', 'provider', 'id', 'runOptions', 'credits'];

/** Reads an item of `models`. Throws FileFault. */
function readModel(item: YamlValue, providers: ReadonlyMap<string, Provider>, read: YamlReader): ModelEntry {
  const fields = YamlFields.of(item, read, 'a model', MODEL_FIELDS);
  const modality = readModality(fields);
  const id = fields.text('id');
  return {
    model: readName(fields),
    modality,
    engine: 'openai-compatible',
    provider: readProviderName(fields, providers),
    ...(id === undefined ? {} : { id }),
    runOptions: readRunOptions(fields.value('runOptions'), read),
    credits: readCredits(fields, modality),
  };
}

function readName(fields: YamlFields): string {
  const model = fields.required('model');
  if (RESERVED_NAMES.has(model)) throw fields.fault('model', `\`${model}\` is built in: choose another name`);
  return model;
}

function readModality(fields: YamlFields): Modality {
  const modality = fields.required('modality');
  if (modality === 'text' || modality === 'image') return modality;
  throw fields.fault('modality', 'modality must be text or image');
}

function readProviderName(fields: YamlFields, providers: ReadonlyMap<string, Provider>): Provider {
  const name = fields.required('provider');
  const provider = providers.get(name);
  if (provider) return provider;
  throw fields.fault('provider', `the provider \`${name}\` is not described under providers`);
}

function readRunOptions(value: YamlValue | undefined, read: YamlReader): RunOption[] {
  const entries = value ? read.entries(value, 'runOptions') : [];
  return entries.map(({ key, value, line }) => {
    const values = read.items(value, `the values of \`${key}\``);
    if (values.length === 0) throw new FileFault(line, `\`${key}\` has no values`);
    const options = values.map(item => read.text(item, `a value of \`${key}\``));
    return { key, options: [...new Set(options)] };
  });
}

function readCredits(fields: YamlFields, modality: Modality): number {
  const text = fields.text('credits');
  if (text === undefined) return DEFAULT_CREDITS[modality];
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw fields.fault('credits', 'credits must be a whole number, 0 or more');
}
