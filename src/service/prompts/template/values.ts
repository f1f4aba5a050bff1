import type { JsonValue } from '../../files/json.ts';

/** A picture that is given as an input: a template can place it, ask whether it is there, and no more. */
export class Picture {
  constructor(
    /** Among the prompt's `imageInputs`, from 0. */
    readonly index: number,
    private readonly description: string,
  ) {}

  toString(): string {
    return this.description;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** What a template works with. */
export type Value = JsonValue | Picture | undefined | readonly Value[] | { readonly [key: string]: Value };

type ValueObject = { readonly [key: string]: Value };

/** A value as text: nothing for what is not there, lists with commas. */
export function textOf(value: Value): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (typeof value === 'object' && !(value instanceof Picture)) return '[object Object]';
  return String(value);
}

/** Own names only: what every object and text inherits is not part of a value. The parts of nothing are that nothing. */
export function partOf(value: Value, name: string): Value {
  if (value === null || value === undefined) return value;
  if (value instanceof Picture) return undefined;
  const object = Object(value) as ValueObject;
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** What `{{#if}}` takes for nothing: also 0, an empty text and an empty list. */
export function isFilled(value: Value, zero = false): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return zero && value === 0 ? true : Boolean(value);
}

/** What `{{#with}}` takes for nothing: 0 is something. */
export function isThere(value: Value): boolean {
  return isFilled(value, true);
}

/** The keys and values that `{{#each}}` goes through; none for what is neither a list nor an object. */
export function entriesOf(value: Value): [string | number, Value][] {
  if (Array.isArray(value)) return value.map((item: Value, index) => [index, item]);
  if (typeof value !== 'object' || value === null || value instanceof Picture) return [];
  return Object.entries(value as ValueObject);
}
