import type { Context } from '../context.ts';
import { isObject } from '../core/json-value.ts';
import { usageError } from '../errors.ts';
import { parseKeyValue, parseValueSource, readsStandardInput } from './flags.ts';
import { inputText, Literal, parseJsonAsWritten } from './literal.ts';
import { decodeUtf8, readStandardInput, readTextFile } from './read-text.ts';

/** The input flags as they were given. */
export interface InputFlags {
  /** `key=value`, `key=@file`, `key=@-`, `key=@@literal`. */
  readonly inputs: readonly string[];
  /** A file of inputs, or `-`. */
  readonly inputsFile?: string;
  /** Files, https URLs, data URLs or `-`. */
  readonly images: readonly string[];
}

/** Everything given, texts read, images by name only. */
export interface CollectedInputs {
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly string[];
}

/** Merges the inputs of a command; `--input` wins over `--inputs`, and so do `--image`s over its images. */
export async function collectInputs(ctx: Context, flags: InputFlags): Promise<CollectedInputs> {
  const pairs = flags.inputs.map(text => parseKeyValue(text, '--input'));
  refuseSecondReader(flags);
  const file = await readInputsFile(ctx, flags.inputsFile);
  const text = new Map(file.text);
  for (const { key, value } of pairs) text.set(key, await readValue(ctx, key, value));
  return { text, images: flags.images.length > 0 ? flags.images : file.images };
}

async function readInputsFile(ctx: Context, file: string | undefined): Promise<InputsDocument> {
  if (file === undefined) return { text: new Map(), images: [] };
  return inputsOf(await readInputsValue(ctx, file), `--inputs ${file}: `);
}

/** What the file of `--inputs` holds, numbers and booleans as `Literal`s. @throws {CliError} USAGE_ERROR */
export async function readInputsValue(ctx: Context, file: string): Promise<unknown> {
  const source =
    file === '-'
      ? decodeUtf8(await readStandardInput(ctx), '--inputs: standard input')
      : await readTextFile(file, ctx.cwd, '--inputs');
  return parseInputsValue(source.replace(/^\uFEFF/u, ''), `--inputs ${file}`);
}

async function readValue(ctx: Context, key: string, value: string): Promise<string> {
  const source = parseValueSource(value);
  if (source.from === 'argument') return source.value;
  if (source.from === 'file') return readTextFile(source.path, ctx.cwd, `--input ${key}`);
  return decodeUtf8(await readStandardInput(ctx), `--input ${key}: standard input`);
}

/** Standard input ends once; who comes second would wait for nothing. @throws {CliError} USAGE_ERROR */
export function refuseSecondReader({ inputs, inputsFile, images }: InputFlags): void {
  const readers = [
    ...(inputsFile === '-' ? ['--inputs -'] : []),
    ...inputs.filter(readsStandardInput).map(text => `--input ${text}`),
    ...images.filter(image => image === '-').map(() => '--image -'),
  ];
  if (readers.length > 1) {
    throw usageError(
      `standard input can be read once only, not by ${readers.join(' and ')}`,
      'Give all but one of them from a file.',
    );
  }
}

/** What `--inputs` holds. */
export interface InputsDocument {
  readonly text: ReadonlyMap<string, string>;
  /** As `--image` takes them: https URLs, data URLs, file names. */
  readonly images: readonly string[];
}

/** JSON or YAML, nested as in the interface or a flat map. Every value becomes text, as `inputText` has it. */
export async function parseInputsDocument(source: string, what: string): Promise<InputsDocument> {
  return inputsOf(await parseInputsValue(source, what), `${what}: `);
}

/** The inputs that a value holds as the two readers give it; `where` begins every error. */
export function inputsOf(value: unknown, where: string): InputsDocument {
  if (!isObject(value) || value instanceof Literal)
    throw usageError(`${where}a map of keys to values is needed`);
  if (!isNested(value)) return { text: textsOf(value, where), images: [] };
  const strange = Object.keys(value).find(key => key !== 'textInputs' && key !== 'imageInputs');
  if (strange !== undefined) {
    throw usageError(
      `${where}${JSON.stringify(strange)} stands beside textInputs and imageInputs`,
      'Give either {textInputs, imageInputs} or a flat map of keys to values.',
    );
  }
  const { textInputs = {}, imageInputs = [] } = value;
  if (!isObject(textInputs)) throw usageError(`${where}textInputs must be a map of keys to values`);
  if (!Array.isArray(imageInputs)) throw usageError(`${where}imageInputs must be a list`);
  return {
    text: textsOf(textInputs, where),
    images: imageInputs.map((image, at) => imageOf(image, at, where)),
  };
}

async function parseInputsValue(source: string, what: string): Promise<unknown> {
  const json = parseJsonAsWritten(source);
  if (json !== undefined) return json;
  const { parseYamlAsWritten } = await import('./yaml-as-written.ts');
  return parseYamlAsWritten(source, what);
}

/** A flat map may well have an input called `textInputs`; only a map or a list tells the two apart. */
export function isNested(value: Readonly<Record<string, unknown>>): boolean {
  const { textInputs, imageInputs } = value;
  return (isObject(textInputs) && !(textInputs instanceof Literal)) || Array.isArray(imageInputs);
}

function textsOf(map: Readonly<Record<string, unknown>>, where: string): Map<string, string> {
  return new Map(
    Object.entries(map).map(([key, value]) => {
      const text = inputText(value);
      if (text !== undefined) return [key, text];
      throw usageError(
        value === null
          ? `${where}the value of ${JSON.stringify(key)} is null`
          : `${where}the value of ${JSON.stringify(key)} has too many parts`,
        'Leave out an input that has no value.',
      );
    }),
  );
}

function imageOf(value: unknown, at: number, where: string): string {
  if (typeof value === 'string' && value !== '' && value !== '-') return value;
  if (isObject(value)) {
    if (value['type'] === 'url' && typeof value['url'] === 'string') return value['url'];
    if (value['type'] === 'base64' && typeof value['base64'] === 'string') {
      return asDataUrl(value['base64']);
    }
  }
  throw usageError(`${where}imageInputs[${at}] is neither {type: url, url} nor {type: base64, base64}`);
}

function asDataUrl(base64: string): string {
  return base64.startsWith('data:') ? base64 : `data:;base64,${base64}`;
}
