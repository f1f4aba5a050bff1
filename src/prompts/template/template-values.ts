import type { JsonValue } from '../../files/formats/json.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';

/** An image input. A template can place it and test if it is present, but can't read it. */
export class InputImage {
  readonly #index: number;
  readonly #description: string;

  constructor(index: number, description: string) {
    this.#index = index;
    this.#description = description;
  }

  /** The index among the prompt's `imageInputs`, from 0. */
  get index(): number {
    return this.#index;
  }

  toString(): string {
    return this.#description;
  }

  toJSON(): string {
    return this.#description;
  }
}

export type TemplateValue =
  | JsonValue
  | InputImage
  | undefined
  | readonly TemplateValue[]
  | { readonly [key: string]: TemplateValue };

/** Returns a value as text: empty for a missing value, lists with commas. */
export function formatTemplateValue(value: TemplateValue): string {
  if (value === null || value === undefined || typeof value === 'function') return '';
  if (Array.isArray(value)) return value.map(formatTemplateValue).join(',');
  if (typeof value === 'object' && !(value instanceof InputImage)) return '[object Object]';
  return String(value);
}

/** @throws {LimitExceededError} for a value that is nested too deeply */
export function encodeJson(value: TemplateValue, indent: TemplateValue): string {
  const indentation = typeof indent === 'number' || typeof indent === 'string' ? indent : 0;
  try {
    return JSON.stringify(value ?? null, null, indentation);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new LimitExceededError('a value is nested too deeply to be written as JSON');
  }
}

/** Returns a field of a value; inherited properties don't count. */
export function getOwnField(value: TemplateValue, name: string): TemplateValue {
  const object = Object(value) as { readonly [key: string]: TemplateValue };
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Returns false for the values that `{{#if}}` treats as false, including 0, an empty text and an
 * empty list.
 */
export function isTruthyValue(value: TemplateValue): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
