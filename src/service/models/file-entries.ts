import type { Modality, RunOption } from '../../wire/index.ts';
import { FileFault, isEmpty, type YamlEntry, type YamlReader, type YamlValue } from '../files/yaml-file.ts';
import { type ModelEntry, type Provider, RESERVED_NAMES } from './entry.ts';
import { baseUrlFault, DEFAULT_CREDITS } from './environment.ts';

const ENVIRONMENT_VARIABLE = /^[A-Za-z_]\w*$/;
const PROVIDER_FIELDS = ['baseUrl', 'apiKeyEnv', 'headers'];

/** Reads an entry of `providers`. Throws FileFault. */
export function readProvider({ key: name, line, value }: YamlEntry, read: YamlReader): Provider {
  const fields = YamlFields.of({ ...value, line }, read, `the provider \`${name}\``, PROVIDER_FIELDS);
  const baseUrl = fields.required('baseUrl');
  const fault = baseUrlFault(baseUrl);
  if (fault !== undefined) throw fields.fault('baseUrl', `baseUrl ${fault}`);
  const apiKeyEnv = readKeyVariable(fields);
  const headers = readHeaders(fields.value('headers'), read);
  return {
    name,
    baseUrl,
    ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
    ...(headers ? { headers } : {}),
  };
}

function readKeyVariable(fields: YamlFields): string | undefined {
  const name = fields.text('apiKeyEnv');
  if (name === undefined || ENVIRONMENT_VARIABLE.test(name)) return name;
  throw fields.fault(
    'apiKeyEnv',
    'apiKeyEnv names the environment variable that holds the key; the key itself does not belong in this file',
  );
}

function readHeaders(value: YamlValue | undefined, read: YamlReader): Record<string, string> | undefined {
  if (!value) return undefined;
  const headers = read.entries(value, 'headers').map(({ key, line, value }) => {
    const text = read.text(value, `the header \`${key}\``);
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(key)) {
      throw new FileFault(line, `\`${key}\` is not the name of a header`);
    }
    if (!/^[\t\x20-\x7e]*$/.test(text)) {
      throw new FileFault(line, `the header \`${key}\` must be plain ASCII`);
    }
    return [key, text] as const;
  });
  return Object.fromEntries(headers);
}

/** Reads an item of `models`. Throws FileFault. */
const MODEL_FIELDS = ['model', 'modality', 'provider', 'id', 'runOptions', 'responseFormat', 'credits'];

export function readModel(
  item: YamlValue,
  providers: ReadonlyMap<string, Provider>,
  read: YamlReader,
): ModelEntry {
  const fields = YamlFields.of(item, read, 'a model', MODEL_FIELDS);
  const modality = readModality(fields);
  const id = fields.text('id');
  const responseFormat = readResponseFormat(fields);
  return {
    model: readName(fields),
    modality,
    engine: 'openai-compatible',
    provider: readProviderName(fields, providers),
    ...(id === undefined ? {} : { id }),
    runOptions: readRunOptions(fields.value('runOptions'), read),
    ...(responseFormat === undefined ? {} : { responseFormat }),
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

function readResponseFormat(fields: YamlFields): ModelEntry['responseFormat'] {
  const form = fields.text('responseFormat');
  if (form === undefined || form === 'json_schema' || form === 'json_object' || form === 'none') return form;
  throw fields.fault('responseFormat', 'responseFormat must be json_schema, json_object or none');
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

/** The fields of a map whose names are known beforehand. */
export class YamlFields {
  private constructor(
    /** The map as faults speak of it. */
    private readonly owner: string,
    private readonly line: number,
    private readonly entries: ReadonlyMap<string, YamlEntry>,
    private readonly read: YamlReader,
  ) {}

  /** Throws FileFault for what is not a map, or has a field that is not among `known`. */
  static of(value: YamlValue, read: YamlReader, owner: string, known: readonly string[]): YamlFields {
    const entries = read.entries(value, owner);
    const stranger = entries.find(({ key }) => !known.includes(key));
    if (stranger) {
      const what = `\`${stranger.key}\` is not known here: ${owner} takes ${known.join(', ')}`;
      throw new FileFault(stranger.line, what);
    }
    return new YamlFields(owner, value.line, new Map(entries.map(entry => [entry.key, entry])), read);
  }

  value(key: string): YamlValue | undefined {
    const value = this.entries.get(key)?.value;
    return value && !isEmpty(value) ? value : undefined;
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    return value && this.read.text(value, key);
  }

  required(key: string): string {
    const text = this.text(key);
    if (text === undefined || text === '') throw new FileFault(this.line, `${this.owner} needs a \`${key}\``);
    return text;
  }

  /** A fault at the line of a field. */
  fault(key: string, what: string): FileFault {
    return new FileFault(this.entries.get(key)?.line ?? this.line, what);
  }
}
