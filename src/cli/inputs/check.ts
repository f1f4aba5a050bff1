import { didYouMean } from '../core/nearest.ts';
import { type CliError, usageError } from '../errors.ts';
import type { InputFields, TextField } from './schema/fields.ts';

/** What is given, as far as it is checked against a prompt's config. */
export interface CheckedInputs {
  readonly text: ReadonlyMap<string, string>;
  /** How many images. */
  readonly images: number;
}

/** The first thing a prompt's config refuses; undefined where it refuses nothing, or is not known. */
export function inputFault(fields: InputFields, given: CheckedInputs): CliError | undefined {
  return suppliedInputFault(fields, given) ?? (fields.known ? missing(fields, given) : undefined);
}

/** The same without what is missing: that can still be asked for. */
export function suppliedInputFault(fields: InputFields, given: CheckedInputs): CliError | undefined {
  if (!fields.known) return undefined;
  return (
    unknownKey(fields, given.text) ?? wrongChoice(fields, given.text) ?? tooManyImages(fields, given.images)
  );
}

/** Throws what `inputFault` finds. */
export function checkInputs(fields: InputFields, given: CheckedInputs): void {
  const fault = inputFault(fields, given);
  if (fault !== undefined) throw fault;
}

/** The required text inputs that are not given. */
export function missingTexts(fields: InputFields, text: ReadonlyMap<string, string>): TextField[] {
  return fields.text.filter(field => field.required && !text.has(field.key));
}

function unknownKey(fields: InputFields, text: ReadonlyMap<string, string>): CliError | undefined {
  const keys = fields.text.map(field => field.key);
  const strange = [...text.keys()].find(key => !keys.includes(key));
  if (strange === undefined) return undefined;
  return usageError(
    `the prompt has no input ${JSON.stringify(strange)}${didYouMean(strange, keys)}`,
    keys.length === 0 ? 'It takes no text inputs.' : `Its inputs: ${keys.join(', ')}`,
  );
}

function wrongChoice(fields: InputFields, text: ReadonlyMap<string, string>): CliError | undefined {
  for (const { key, choices, multiple } of fields.text) {
    const value = text.get(key);
    if (value === undefined || choices === undefined || choices.includes(value)) continue;
    const wrong = (multiple === undefined ? [value] : value.split(', ')).find(one => !choices.includes(one));
    if (wrong === undefined) continue;
    return usageError(
      `the input ${key} can't be ${JSON.stringify(wrong)}${didYouMean(wrong, choices)}`,
      `Its choices: ${choices.join(', ')}`,
    );
  }
  return undefined;
}

function missing(fields: InputFields, given: CheckedInputs): CliError | undefined {
  const texts = missingTexts(fields, given.text);
  const images = fields.images.slice(given.images);
  const names = [
    ...texts.map(({ key }) => key),
    ...images.map(({ description }, at) => imageName(given.images + at + 1, description)),
  ];
  if (names.length === 0) return undefined;
  return usageError(
    `missing input${names.length === 1 ? '' : 's'}: ${names.join(', ')}`,
    ...howToGive(fields, given),
  );
}

function howToGive(fields: InputFields, given: CheckedInputs): string[] {
  const texts = missingTexts(fields, given.text).map(({ key, description }) =>
    [`Give it with -i ${key}=…`, ...(description === undefined ? [] : [description])].join(': '),
  );
  const images =
    fields.images.length > given.images
      ? [`The prompt takes ${count(fields.images.length)}: --image <file>`]
      : [];
  return [...texts, ...images];
}

function tooManyImages(fields: InputFields, images: number): CliError | undefined {
  const wanted = fields.images.length;
  // A config that names no image may only be silent about them; that is for the service to say.
  if (wanted === 0 || images <= wanted) return undefined;
  return usageError(`the prompt takes ${count(wanted)}, not ${images}`);
}

function imageName(number: number, description: string | undefined): string {
  return description === undefined ? `image ${number}` : `image ${number} (${description})`;
}

function count(images: number): string {
  return images === 1 ? 'one image' : `${images} images`;
}
