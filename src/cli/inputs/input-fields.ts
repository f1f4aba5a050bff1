import { isObject, type JsonObject, listOf, scalarText, textUnder } from '../core/json-value.ts';

/** A value that a prompt asks for; on the wire every value is a text. */
export interface TextField {
  readonly key: string;
  readonly description?: string;
  /** False if there is a default or it may be left empty. */
  readonly required: boolean;
  /** What the service takes if nothing is given; several choices are joined with `, `. */
  readonly default?: string;
  /** What the text stands for; a text of any kind if undefined. Lists and objects are JSON. */
  readonly type?: 'number' | 'integer' | 'boolean' | 'array' | 'object';
  /** What the items of a list are, if they are no texts. */
  readonly items?: TextField['type'];
  /** The only values accepted; anything if undefined. */
  readonly choices?: readonly string[];
  /** What choices are called, for those that have a name besides their value. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Several choices may be taken, between `min` and `max` of them; one if undefined. */
  readonly multiple?: { readonly min?: number; readonly max?: number };
}

/** An image that a prompt asks for; all of them are required, in order. */
export interface ImageField {
  readonly name?: string;
  readonly description?: string;
}

/** What a prompt asks for, as far as its config says. */
export interface InputFields {
  /** False if the config describes nothing that is known: any input may be right. */
  readonly known: boolean;
  readonly text: readonly TextField[];
  readonly images: readonly ImageField[];
}

/** A part of a config that has the form of no known shape; then nothing is known of the whole. */
export class UnknownShape extends Error {}

/** A part that must be an object. @throws {UnknownShape} */
export function part(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new UnknownShape();
}

/** A part that may be left out, but must be of its form otherwise. @throws {UnknownShape} */
export function optional<T>(value: unknown, read: (value: unknown) => T | undefined): T | undefined {
  if (value === undefined || value === null) return undefined;
  const content = read(value);
  if (content === undefined) throw new UnknownShape();
  return content;
}

export const flag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

export const TYPES: Readonly<Record<string, TextField['type']>> = {
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

type Facts = { [K in 'description' | 'default' | 'type' | 'items' | 'multiple']?: TextField[K] | undefined };

/** A field without what the config leaves out; `listed` are its choices as `choicesOf` takes them. */
export function field(key: string, required: boolean, listed: unknown, facts: Facts): TextField {
  const { choices = [], labels } = optional(listed, choicesOf) ?? {};
  // A choice is asked for as such, whatever it stands for.
  const isChoice = choices.length > 0;
  const all = {
    ...facts,
    ...(isChoice ? { choices, type: undefined } : { multiple: undefined }),
    labels: labels?.size ? labels : undefined,
  };
  return {
    key,
    required: required && facts.default === undefined,
    ...Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
  };
}

/** `["a", "b"]`, a list of objects, or an object from what is sent to what is shown. */
function choicesOf(listed: unknown): Pick<TextField, 'choices' | 'labels'> | undefined {
  if (!isObject(listed) && !Array.isArray(listed)) return undefined;
  const pairs = isObject(listed)
    ? Object.entries(listed).map(([key, label]) => [key, scalarText(label) ?? nameIn(label) ?? key] as const)
    : listOf(listed).map(option => {
        const value = scalarText(option) ?? textUnder(option, 'value', 'key', 'name', 'label');
        if (value === undefined) throw new UnknownShape();
        return [value, nameIn(option) ?? value] as const;
      });
  return {
    choices: pairs.map(([value]) => value),
    labels: new Map(pairs.filter(([value, label]) => value !== label)),
  };
}

function nameIn(option: unknown): string | undefined {
  return textUnder(option, 'label', 'name', 'title');
}

export function defaultOf(value: unknown): string | undefined {
  return Array.isArray(value) ? texts(value).join(', ') : scalarText(value);
}

export function texts(values: unknown): string[] {
  return (Array.isArray(values) ? listOf(values) : [values])
    .map(scalarText)
    .filter(text => text !== undefined);
}
