import { withoutUndefined } from '../../files/formats/json.ts';
import { findFirstText, formatScalar } from '../../files/formats/json-fields.ts';
import { isJsonObject, readListAt, type UncheckedObject } from '../../utils/bounded-json.ts';

/** A text input of a prompt; on the wire every value is text. */
export interface TextField {
  readonly key: string;
  readonly description?: string;
  /** False if it has a default or may be empty. */
  readonly required: boolean;
  /** The service's default; several choices are joined with `, `. */
  readonly default?: string;
  /**
   * The type of the value that the text represents; undefined for plain text. Lists and objects are
   * JSON.
   */
  readonly type?: 'number' | 'integer' | 'boolean' | 'array' | 'object';
  /** The type of a list's items, unless they are texts. */
  readonly items?: TextField['type'];
  /** The accepted values; undefined accepts any. */
  readonly choices?: readonly string[];
  /** The labels of choices whose label differs from their value. */
  readonly labels?: ReadonlyMap<string, string>;
  /** The number of choices that may be selected; undefined means exactly one. */
  readonly multiple?: { readonly min?: number; readonly max?: number };
}

/** An image input of a prompt; all are required, in order. */
export interface ImageField {
  readonly name?: string;
  readonly description?: string;
}

/** The inputs that a prompt's config describes. */
export interface InputFields {
  /** False if the config has an unknown shape, so that any input may be valid. */
  readonly isKnown: boolean;
  readonly text: readonly TextField[];
  readonly images: readonly ImageField[];
}

/** Thrown for a part of a config without a known shape; the whole config then counts as unknown. */
export class UnknownShapeError extends Error {}

/** Returns a part that must be an object. @throws {UnknownShapeError} if it is not */
export function requireObject(value: unknown): UncheckedObject {
  if (isJsonObject(value)) return value;
  throw new UnknownShapeError();
}

/** Reads an optional part. @throws {UnknownShapeError} if it is present but has another form */
export function readOptional<T>(
  value: unknown,
  read: (value: unknown) => T | undefined,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  const content = read(value);
  if (content === undefined) throw new UnknownShapeError();
  return content;
}

export function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** The types of fields by their names in configs, many of them from JSON Type Definition. */
export const FIELD_TYPES: Readonly<Record<string, TextField['type']>> = {
  number: 'number',
  float: 'number',
  float32: 'number',
  float64: 'number',
  integer: 'integer',
  int: 'integer',
  int8: 'integer',
  uint8: 'integer',
  int16: 'integer',
  uint16: 'integer',
  int32: 'integer',
  uint32: 'integer',
  boolean: 'boolean',
  array: 'array',
  list: 'array',
  object: 'object',
};

type TextFieldFacts = {
  [K in 'description' | 'default' | 'type' | 'items' | 'multiple']?: TextField[K] | undefined;
} & {
  readonly required: boolean;
  /** The choices, in a form for `readFieldChoices`. */
  readonly choiceValues: unknown;
};

/** Returns a field without the properties that the config omits. */
export function createTextField(
  key: string,
  { required, choiceValues, ...facts }: TextFieldFacts,
): TextField {
  const { choices = [], labels } = readOptional(choiceValues, readFieldChoices) ?? {};

  // A field with choices is asked as a choice, even if its values represent numbers.
  const isChoice = choices.length > 0;
  const fields = {
    ...facts,
    ...(isChoice ? { choices, type: undefined } : { multiple: undefined }),
    labels: labels?.size ? labels : undefined,
  };

  return {
    key,
    required: required && facts.default === undefined,
    ...withoutUndefined(fields),
  };
}

/** Reads choices: `["a", "b"]`, a list of objects, or an object from values to labels. */
function readFieldChoices(
  choiceValues: unknown,
): Pick<TextField, 'choices' | 'labels'> | undefined {
  if (!isJsonObject(choiceValues) && !Array.isArray(choiceValues)) return undefined;
  const pairs = isJsonObject(choiceValues)
    ? Object.entries(choiceValues).map(
        ([key, label]) => [key, formatScalar(label) ?? readOptionLabel(label) ?? key] as const,
      )
    : readListAt(choiceValues).map(option => {
        const value =
          formatScalar(option) ?? findFirstText(option, 'value', 'key', 'name', 'label');
        if (value === undefined) throw new UnknownShapeError();
        return [value, readOptionLabel(option) ?? value] as const;
      });
  return {
    choices: pairs.map(([value]) => value),
    labels: new Map(pairs.filter(([value, label]) => value !== label)),
  };
}

function readOptionLabel(option: unknown): string | undefined {
  return findFirstText(option, 'label', 'name', 'title');
}

/** Returns a default as text; several values are joined with `, `. */
export function readDefaultText(value: unknown): string | undefined {
  return Array.isArray(value) ? readScalarTexts(value).join(', ') : formatScalar(value);
}

export function readScalarTexts(values: unknown): string[] {
  return (Array.isArray(values) ? readListAt(values) : [values])
    .map(formatScalar)
    .filter(text => text !== undefined);
}
