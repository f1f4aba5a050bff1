import type { Modality, RunOption } from '../../wire/index.ts';
import { YamlFields } from '../yaml-fields.ts';
import { FileFault, type YamlReader, type YamlValue } from '../yaml-file.ts';
import { RESERVED_NAMES } from './built-in.ts';
import type { ModelEntry, Provider } from './entry.ts';
import { DEFAULT_CREDITS } from './openai.ts';

const FIELDS = ['model', 'modality', 'provider', 'id', 'runOptions', 'credits'];

/** Reads an item of `models`. Throws FileFault. */
export function readModel(
  item: YamlValue,
  providers: ReadonlyMap<string, Provider>,
  read: YamlReader,
): ModelEntry {
  const fields = YamlFields.of(item, read, 'a model', FIELDS);
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
