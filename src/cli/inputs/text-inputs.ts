import type { JsonValue } from '../../files/formats/json.ts';
import { isJsonObject, JsonLimitError, type UncheckedObject } from '../../utils/bounded-json.ts';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { parseKeyValue, parseValueSource, readsStandardInput } from './flag-values.ts';
import { Literal, parseJsonAsWritten, renderInputText } from './json-as-written.ts';
import { readStandardInput, readTextFile, requireUtf8Text } from './read-text.ts';

export interface InputFlags {
  /** `key=value`, `key=@file`, `key=@-`, `key=@@literal`. */
  readonly inputs: readonly string[];
  /** A file of inputs, or `-`. */
  readonly inputsFile?: string;
  /** Files, https URLs, data URLs or `-`. */
  readonly images: readonly string[];
}

/** Texts and the sources of images: https URLs, data URLs, file names. */
export interface CollectedInputs {
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly string[];
}

/** Merges the inputs of a command: `--input` and `--image` win over `--inputs`. */
export async function collectInputs(ctx: Context, flags: InputFlags): Promise<CollectedInputs> {
  const { values, texts, images } = await collectFlags(ctx, flags);
  return { text: new Map([...readTextMap(values, formatInputsPrefix(flags)), ...texts]), images };
}

/**
 * Collects inputs like `collectInputs`, but keeps the types of values in `--inputs`; the texts of
 * `--input` win over them.
 */
export async function collectTypedInputs(ctx: Context, flags: InputFlags) {
  const { values, texts, images } = await collectFlags(ctx, flags);
  return { values: toTypedFields(values), texts: Object.fromEntries(texts), images };
}

async function collectFlags(ctx: Context, flags: InputFlags) {
  const pairs = flags.inputs.map(text => parseKeyValue(text, '--input'));
  refuseSecondReader(flags);
  const { values, images } = await readInputsFile(ctx, flags);
  const texts = new Map<string, string>();
  for (const { key, value } of pairs) texts.set(key, await readInputValue(ctx, key, value));
  return { values, texts, images: flags.images.length > 0 ? flags.images : images };
}

async function readInputsFile(ctx: Context, flags: InputFlags): Promise<InputsDocument> {
  const { inputsFile: file } = flags;
  if (file === undefined) return { values: {}, images: [] };

  const source =
    file === '-'
      ? requireUtf8Text(await readStandardInput(ctx), '--inputs: standard input')
      : await readTextFile(file, ctx.cwd, '--inputs');
  const document = await parseInputs(source, `--inputs ${file}`);
  return readInputsDocument(document, formatInputsPrefix(flags));
}

/** Returns the beginning of messages about the file of `--inputs`. */
function formatInputsPrefix({ inputsFile = '' }: InputFlags): string {
  return `--inputs ${inputsFile}: `;
}

/** Parses JSON or YAML, with numbers and booleans as `Literal`s. @throws {CliError} USAGE_ERROR */
export async function parseInputs(source: string, sourceName: string): Promise<unknown> {
  const text = source.replace(/^\uFEFF/u, '');
  try {
    const json = parseJsonAsWritten(text);
    if (json !== undefined) return json;
  } catch (error) {
    throw error instanceof JsonLimitError ? usageError(`${sourceName} ${error.message}`) : error;
  }

  const { parseYamlAsWritten } = await import('./yaml-as-written.ts');
  return parseYamlAsWritten(text, sourceName);
}

async function readInputValue(ctx: Context, key: string, value: string): Promise<string> {
  const source = parseValueSource(value);
  if (source.from === 'argument') return source.value;
  if (source.from === 'file') {
    const text = await readTextFile(source.path, ctx.cwd, `--input ${key}`);
    return text.replace(/^\uFEFF/u, '').replaceAll('\r\n', '\n');
  }
  return requireUtf8Text(await readStandardInput(ctx), `--input ${key}: standard input`);
}

/**
 * Refuses two inputs from standard input, which can be read only once.
 *
 * @throws {CliError} USAGE_ERROR
 */
function refuseSecondReader({ inputs, inputsFile, images }: InputFlags): void {
  const readers = inputsFile === '-' ? ['--inputs -'] : [];
  readers.push(...inputs.filter(readsStandardInput).map(text => `--input ${text}`));
  readers.push(...images.filter(image => image === '-').map(() => '--image -'));

  if (readers.length > 1) {
    throw usageError(
      `standard input can be read only once, not by ${readers.join(' and ')}`,
      'Give all but one of them from a file.',
    );
  }
}

/**
 * Returns the inputs in a value of `parseInputs`, nested as in the interface or as a flat map.
 *
 * @param messagePrefix the beginning of every message
 * @throws {CliError} USAGE_ERROR
 */
export function readJsonInputs(value: unknown, messagePrefix: string): CollectedInputs {
  const { values, images } = readInputsDocument(value, messagePrefix);
  return { text: readTextMap(values, messagePrefix), images };
}

interface InputsDocument extends Pick<CollectedInputs, 'images'> {
  /** The values with their types, numbers and booleans as `Literal`s. */
  readonly values: UncheckedObject;
}

function readInputsDocument(value: unknown, messagePrefix: string): InputsDocument {
  if (!isMap(value)) throw usageError(`${messagePrefix}this must be a map of keys to values`);
  if (!isNested(value)) return { values: value, images: [] };

  const { textInputs = {}, imageInputs = [], ...otherFields } = value;
  const [strayKey] = Object.keys(otherFields);
  if (strayKey !== undefined) {
    throw usageError(
      `${messagePrefix}${JSON.stringify(strayKey)} is not allowed next to textInputs and imageInputs`,
      'Give either {textInputs, imageInputs} or a flat map of keys to values.',
    );
  }

  if (!isMap(textInputs)) {
    throw usageError(`${messagePrefix}textInputs must be a map of keys to values`);
  }
  if (!Array.isArray(imageInputs)) throw usageError(`${messagePrefix}imageInputs must be a list`);

  return {
    values: textInputs,
    images: imageInputs.map((image, index) => readImageArgument(image, index, messagePrefix)),
  };
}

/**
 * Returns true for the nested form. A flat map may have an input called `textInputs`, so the
 * value's type decides.
 */
export function isNested({ textInputs, imageInputs }: UncheckedObject): boolean {
  return isMap(textInputs) || Array.isArray(imageInputs);
}

function isMap(value: unknown): value is UncheckedObject {
  return isJsonObject(value) && !(value instanceof Literal);
}

function readTextMap(map: UncheckedObject, messagePrefix: string): Map<string, string> {
  return new Map(
    Object.entries(map).map(([key, value]) => {
      const text = renderInputText(value);
      if (text !== undefined) return [key, text];
      throw usageError(
        `${messagePrefix}the value of ${JSON.stringify(key)} ${value === null ? 'is null' : 'has too many parts'}`,
        'Leave out an input that has no value.',
      );
    }),
  );
}

function readImageArgument(value: unknown, index: number, messagePrefix: string): string {
  if (typeof value === 'string' && value !== '' && value !== '-') return value;
  if (isJsonObject(value)) {
    if (value['type'] === 'url' && typeof value['url'] === 'string') return value['url'];
    if (value['type'] === 'base64' && typeof value['base64'] === 'string') {
      return value['base64'].startsWith('data:')
        ? value['base64']
        : `data:;base64,${value['base64']}`;
    }
  }
  throw usageError(
    `${messagePrefix}imageInputs[${index}] is neither {type: url, url} nor {type: base64, base64}`,
  );
}

function toTypedFields(values: UncheckedObject): Record<string, JsonValue> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, toTypedValue(value)]),
  );
}

function toTypedValue(value: unknown): JsonValue {
  if (value instanceof Literal) return value.value;
  if (Array.isArray(value)) return value.map(toTypedValue);
  if (isJsonObject(value)) return toTypedFields(value);
  return typeof value === 'string' ? value : null;
}
