import type { Modality, RunOption } from '../../wire/index.ts';
import { FileFault, type YamlEntry, type YamlValue } from '../files/yaml-file.ts';
import { type ModelEntry, type Price, type Provider, RESERVED_NAMES } from './entry.ts';
import { baseUrlFault, DEFAULT_CREDITS } from './providers.ts';

const ENVIRONMENT_VARIABLE = /^[A-Za-z_]\w*$/;
const PROVIDER_FIELDS = ['baseUrl', 'apiKeyEnv', 'engine', 'headers', 'batch'];

/**
 * Reads an entry of `providers`.
 *
 * @throws {FileFault} for one that can't be used
 */
export function readProvider({ key: name, line, value }: YamlEntry): Provider {
  const fields = YamlFields.of(value, `the provider \`${name}\``, PROVIDER_FIELDS, { line });
  const baseUrl = fields.required('baseUrl');
  const fault = baseUrlFault(baseUrl);
  if (fault !== undefined) throw fields.fault('baseUrl', `baseUrl ${fault}`);
  const apiKeyEnv = readKeyVariable(fields);
  const headers = readHeaders(fields.value('headers'));
  return {
    name,
    baseUrl,
    engine: fields.oneOf('engine', ['openai', 'anthropic']) ?? 'openai',
    keyVariables: apiKeyEnv === undefined ? [] : [apiKeyEnv],
    needsKey: apiKeyEnv !== undefined,
    batch: fields.oneOf('batch', ['true', 'false']) === 'true',
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

function readHeaders(value: YamlValue | undefined): Record<string, string> | undefined {
  if (!value) return undefined;
  const headers = value.entries('headers').map(({ key, line, value }) => {
    const text = value.text(`the header \`${key}\``);
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

const MODEL_FIELDS = [
  'model',
  'modality',
  'provider',
  'id',
  'runOptions',
  'responseFormat',
  'credits',
  'price',
  'shutdown_date',
];

/**
 * Reads an item of `models`.
 *
 * @throws {FileFault} for one that can't be used
 */
export function readModel(item: YamlValue, providers: ReadonlyMap<string, Provider>): ModelEntry {
  const fields = YamlFields.of(item, 'a model', MODEL_FIELDS);
  const modality = fields.oneOf('modality', ['text', 'image']) ?? fields.missing('modality');
  const id = fields.text('id');
  const responseFormat = fields.oneOf('responseFormat', ['json_schema', 'json_object', 'none']);
  const provider = readProviderName(fields, providers);
  const price = readPrice(fields.value('price'));
  const shutdownDate = readShutdownDate(fields);
  return {
    model: readName(fields),
    modality,
    engine: provider.engine,
    provider,
    ...(id === undefined ? {} : { id }),
    runOptions: readRunOptions(fields.value('runOptions')),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    credits: readCredits(fields, modality),
    ...(price === undefined ? {} : { price }),
    ...(shutdownDate === undefined ? {} : { shutdownDate }),
  };
}

function readName(fields: YamlFields): string {
  const model = fields.required('model');
  if (RESERVED_NAMES.has(model)) throw fields.fault('model', `\`${model}\` is built in: choose another name`);
  return model;
}

function readProviderName(fields: YamlFields, providers: ReadonlyMap<string, Provider>): Provider {
  const name = fields.required('provider');
  const provider = providers.get(name);
  if (provider) return provider;
  throw fields.fault('provider', `the provider \`${name}\` is not described under providers`);
}

function readRunOptions(value: YamlValue | undefined): RunOption[] {
  const entries = value ? value.entries('runOptions') : [];
  return entries.map(({ key, value, line }) => {
    const values = value.items(`the values of \`${key}\``);
    if (values.length === 0) throw new FileFault(line, `\`${key}\` has no values`);
    const options = values.map(item => item.text(`a value of \`${key}\``));
    return { key, options: [...new Set(options)] };
  });
}

/** A model without a price for output makes none: pictures have one of their own. */
function readPrice(value: YamlValue | undefined): Price | undefined {
  if (!value) return undefined;
  const fields = YamlFields.of(value, 'a price', ['input', 'output', 'cachedInput', 'image']);
  const dollars = (key: string): number | undefined => {
    const text = fields.text(key);
    if (text === undefined || /^\d{1,9}(?:\.\d{1,12})?(?:e-\d{1,2})?$/i.test(text)) {
      return text === undefined ? undefined : Number(text);
    }
    throw fields.fault(key, `${key} must be a number of US dollars, 0 or more`);
  };
  const cachedInput = dollars('cachedInput');
  const image = dollars('image');
  return {
    input: dollars('input') ?? (image === undefined ? fields.missing('input') : 0),
    output: dollars('output') ?? (image === undefined ? fields.missing('output') : 0),
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(image === undefined ? {} : { image }),
  };
}

function readShutdownDate(fields: YamlFields): string | undefined {
  const text = fields.text('shutdown_date');
  if (text === undefined || /^\d{4}-\d{2}-\d{2}/.test(text)) return text?.slice(0, 10);
  throw fields.fault('shutdown_date', 'shutdown_date must be a day, such as 2026-11-30');
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
  ) {}

  /**
   * @param line where faults stand that concern no field; default that of the value
   * @param faults takes in what concerns one field alone, which is left out then
   * @throws {FileFault} for what is not a map; without `faults` for a field that is not among `known` too
   */
  static of(
    value: YamlValue,
    owner: string,
    known: readonly string[],
    { line: owned = value.line, faults }: { line?: number; faults?: FileFault[] } = {},
  ): YamlFields {
    const entries = value.entries(owner, faults);
    for (const { key, line } of entries.filter(({ key }) => !known.includes(key))) {
      const fault = new FileFault(line, `\`${key}\` is not known here: ${owner} takes ${known.join(', ')}`);
      if (!faults) throw fault;
      faults.push(fault);
    }
    return new YamlFields(owner, owned, new Map(entries.map(entry => [entry.key, entry])));
  }

  value(key: string): YamlValue | undefined {
    const value = this.entries.get(key)?.value;
    return value?.isEmpty === false ? value : undefined;
  }

  text(key: string): string | undefined {
    return this.value(key)?.text(key);
  }

  required(key: string): string {
    const text = this.text(key);
    return text === undefined || text === '' ? this.missing(key) : text;
  }

  /** One of a few texts; undefined if nothing was written. */
  oneOf<T extends string>(key: string, choices: readonly T[]): T | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    const chosen = choices.find(choice => choice === text);
    if (chosen !== undefined) return chosen;
    const last = choices.at(-1) ?? '';
    throw this.fault(key, `${key} must be ${choices.slice(0, -1).join(', ')} or ${last}`);
  }

  missing(key: string): never {
    throw new FileFault(this.line, `${this.owner} needs a \`${key}\``);
  }

  /** A fault at the line of a field. */
  fault(key: string, what: string): FileFault {
    return new FileFault(this.entries.get(key)?.line ?? this.line, what);
  }
}
