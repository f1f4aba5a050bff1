import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { type InputsDocument, parseInputsDocument } from './inputs-document.ts';
import { parseKeyValue, parseValueSource, readsStandardInput } from './key-value.ts';
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
export interface GivenInputs {
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly string[];
}

/** Merges the inputs of a command; `--input` wins over `--inputs`, and so do `--image`s over its images. */
export async function collectInputs(ctx: Context, flags: InputFlags): Promise<GivenInputs> {
  const pairs = flags.inputs.map(text => parseKeyValue(text, '--input'));
  refuseSecondReader(flags);
  const file = await readInputsFile(ctx, flags.inputsFile);
  const text = new Map(file.text);
  for (const { key, value } of pairs) text.set(key, await readValue(ctx, key, value));
  return { text, images: flags.images.length > 0 ? flags.images : file.images };
}

async function readInputsFile(ctx: Context, file: string | undefined): Promise<InputsDocument> {
  if (file === undefined) return { text: new Map(), images: [] };
  const source =
    file === '-'
      ? decodeUtf8(await readStandardInput(ctx), '--inputs: standard input')
      : await readTextFile(file, ctx.cwd, '--inputs');
  return parseInputsDocument(source.replace(/^\uFEFF/u, ''), `--inputs ${file}`);
}

async function readValue(ctx: Context, key: string, value: string): Promise<string> {
  const source = parseValueSource(value);
  if (source.from === 'argument') return source.value;
  if (source.from === 'file') return readTextFile(source.path, ctx.cwd, `--input ${key}`);
  return decodeUtf8(await readStandardInput(ctx), `--input ${key}: standard input`);
}

/** Standard input ends once; who comes second would wait for nothing. */
function refuseSecondReader({ inputs, inputsFile, images }: InputFlags): void {
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
