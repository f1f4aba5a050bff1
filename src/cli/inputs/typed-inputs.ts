import type { JsonValue } from '../../files/json.ts';
import type { Context } from '../context.ts';
import { isObject } from '../core/json-value.ts';
import { Literal } from './literal.ts';
import {
  collectInputs,
  type InputFlags,
  inputsOf,
  isNested,
  readInputsValue,
  refuseSecondReader,
} from './text-inputs.ts';

/** Inputs whose values keep their types. */
export interface TypedInputs {
  readonly values: Readonly<Record<string, JsonValue>>;
  /** Those of `--input`, which win over them. */
  readonly texts: Readonly<Record<string, string>>;
  /** As `--image` takes them. */
  readonly images: readonly string[];
}

/** The inputs of a command, the values of `--inputs` as they are, and those of `--input` as texts. */
export async function collectTypedInputs(ctx: Context, flags: InputFlags): Promise<TypedInputs> {
  const { inputsFile, ...others } = flags;
  refuseSecondReader(flags);
  const file = inputsFile === undefined ? {} : await readInputsValue(ctx, inputsFile);
  const nested = isObject(file) && isNested(file);
  const map = nested ? (file['textInputs'] ?? {}) : file;
  const where = `--inputs ${inputsFile ?? ''}: `;
  const { images } = nested
    ? inputsOf({ imageInputs: file['imageInputs'] ?? [] }, where)
    : inputsOf({}, where);
  if (!isObject(map) || map instanceof Literal) inputsOf(map, where);
  const pairs = await collectInputs(ctx, others);
  return {
    values: Object.fromEntries(Object.entries(map as object).map(typedEntry)),
    texts: Object.fromEntries(pairs.text),
    images: pairs.images.length > 0 ? pairs.images : images,
  };
}

function typedEntry([key, value]: readonly [string, unknown]): [string, JsonValue] {
  return [key, typed(value)];
}

function typed(value: unknown): JsonValue {
  if (value instanceof Literal) return literalValue(value.source);
  if (Array.isArray(value)) return value.map(typed);
  if (!isObject(value)) return typeof value === 'string' ? value : null;
  return Object.fromEntries(Object.entries(value).map(typedEntry));
}

function literalValue(source: string): number | boolean {
  const number = Number(source);
  return Number.isNaN(number) ? source.toLowerCase() === 'true' : number;
}
