import { FileFault } from '../../files/formats/file-fault.ts';
import { withoutUndefined } from '../../files/formats/json.ts';
import type { YamlValue } from '../../files/formats/yaml.ts';
import { type FieldFormat, YamlFields } from '../../files/formats/yaml-fields.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import type { RunOption } from '../../wire/index.ts';
import {
  type ModelEntry,
  OPTION_NAMES,
  type OptionName,
  type Price,
  type Provider,
  RESERVED_MODEL_NAMES,
} from '../model-entry.ts';
import { DEFAULT_CREDITS, guessModality } from '../providers/guessed-model.ts';
import { isDeclared, readDeclaration } from './read-declaration.ts';

const DOLLARS_FORMAT: FieldFormat = {
  pattern: /^\d{1,9}(?:\.\d{1,12})?(?:e-\d{1,2})?$/i,
  rule: 'must be a number of US dollars, 0 or more',
};

const DAY_FORMAT: FieldFormat = {
  pattern: /^\d{4}-\d{2}-\d{2}/,
  rule: 'must be a day, such as 2026-11-30',
};

const CREDITS_FORMAT: FieldFormat = {
  pattern: /^\d{1,9}$/,
  rule: 'must be a whole number, 0 or more',
};

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
  'leaveOut',
  'reasoning',
  'program', // an entry with one of these two is read by readDeclaredModel
  'address',
];

/**
 * Reads an item of `models`.
 *
 * @param folder the absolute folder of the file
 * @throws {FileFault} if the item is invalid
 */
export function readModel(
  item: YamlValue,
  providers: ReadonlyMap<string, Provider>,
  folder: string,
): ModelEntry {
  if (isDeclared(item)) return readDeclaredModel(item, folder);

  const fields = YamlFields.read(item, 'a model', MODEL_FIELDS);
  const providerName = fields.requireText('provider');

  const provider = providers.get(providerName);
  if (!provider) {
    const suggestion = didYouMean(providerName, [...providers.keys()]);
    throw fields.createFault(
      'provider',
      `\`${providerName}\` is not described under providers${suggestion}`,
    );
  }

  const model = readModelName(fields);
  const id = fields.readText('id');
  const modality = fields.readChoice('modality', ['text', 'image']) ?? guessModality(id ?? model);
  const responseFormat = fields.readChoice('responseFormat', [
    'json_schema',
    'json_object',
    'none',
  ]);

  const price = fields.findValue('price');
  const leaveOut = fields.findValue('leaveOut');
  const reasoning = fields.readChoice('reasoning', ['true', 'false']);

  return withoutUndefined({
    model,
    modality,
    engine: 'provider' as const,
    provider,
    runOptions: readRunOptions(fields.findValue('runOptions')),
    credits: Number(fields.readText('credits', CREDITS_FORMAT) ?? DEFAULT_CREDITS[modality]),
    id,
    responseFormat,
    price: price && readPrice(price),
    shutdownDate: fields.readText('shutdown_date', DAY_FORMAT)?.slice(0, 10),
    omittedOptions: leaveOut && readLeaveOut(leaveOut),
    isReasoning: reasoning === undefined ? undefined : reasoning === 'true',
  });
}

function readLeaveOut(value: YamlValue): OptionName[] {
  return value.readItems('leaveOut').map(item => {
    const text = item.readText('an option of `leaveOut`');
    const option = OPTION_NAMES.find(name => name === text);
    if (option) return option;
    throw new FileFault(item.line, `leaveOut takes ${OPTION_NAMES.join(', ')}, not \`${text}\``);
  });
}

/** @throws {FileFault} if it is the name of a built-in model */
function readModelName(fields: YamlFields): string {
  const model = fields.requireText('model');
  if (RESERVED_MODEL_NAMES.has(model)) {
    throw fields.createFault('model', `\`${model}\` is built in: choose another name`);
  }
  return model;
}

function readDeclaredModel(item: YamlValue, folder: string): ModelEntry {
  const { fields, declaration } = readDeclaration(item, folder);
  const modality = fields.readChoice('modality', ['text']) ?? fields.refuseMissing('modality');
  const price = fields.findValue('price');

  return {
    model: readModelName(fields),
    modality,
    engine: declaration.kind,
    declaration,
    runOptions: readRunOptions(fields.findValue('runOptions')),
    credits: Number(fields.readText('credits', CREDITS_FORMAT) ?? DEFAULT_CREDITS[modality]),
    ...(price && { price: readDeclaredPrice(price) }),
  };
}

function readRunOptions(value: YamlValue | undefined): RunOption[] {
  const entries = value ? value.readEntries('runOptions') : [];
  return entries.map(({ key, value, line }) => {
    const values = value.readItems(`the values of \`${key}\``);
    if (values.length === 0) throw new FileFault(line, `\`${key}\` has no values`);
    const options = values.map(item => item.readText(`a value of \`${key}\``));
    return { key, options: [...new Set(options)] };
  });
}

/**
 * Reads the price of a run, or of its tokens. The price of a run counts before that of its tokens,
 * which is then checked only.
 */
function readDeclaredPrice(value: YamlValue): Price {
  const fields = YamlFields.read(value, 'a price', ['run', 'input', 'output', 'cachedInput']);
  const run = fields.readText('run', DOLLARS_FORMAT);
  if (run === undefined) return readPrice(value);
  for (const key of ['input', 'output', 'cachedInput']) fields.readText(key, DOLLARS_FORMAT);
  return { input: 0, output: 0, run: Number(run) };
}

/** Reads a price. Token prices may be missing if there is a price per image. */
function readPrice(value: YamlValue): Price {
  const fields = YamlFields.read(value, 'a price', ['input', 'output', 'cachedInput', 'image']);
  const readDollars = (key: keyof Price): number | undefined => {
    const text = fields.readText(key, DOLLARS_FORMAT);
    return text === undefined ? undefined : Number(text);
  };

  const image = readDollars('image');
  const defaultTokenPrice = image === undefined ? undefined : 0;

  return withoutUndefined({
    input: readDollars('input') ?? defaultTokenPrice ?? fields.refuseMissing('input'),
    output: readDollars('output') ?? defaultTokenPrice ?? fields.refuseMissing('output'),
    cachedInput: readDollars('cachedInput'),
    image,
  });
}
