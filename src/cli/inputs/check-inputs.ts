import { didYouMean } from '../../utils/nearest-name.ts';
import { type CliError, usageError } from '../core/errors.ts';
import type { ImageField, InputFields } from './input-fields.ts';

interface Inputs<Value = string> {
  readonly text: ReadonlyMap<string, Value>;
  /** The images in the prompt's order. */
  readonly images: readonly unknown[];
}

/** The hint of commands that can leave out the check. */
export const UNCHECKED: readonly string[] = ['To send it anyway, add --no-validate.'];

/** Texts that complete `Give it …` in a hint. */
export interface InputWay {
  text(key: string): string;
  image(name: string): string;
}

const BY_FLAG: InputWay = { text: key => `with -i ${key}=…`, image: name => `with --image ${name}=<file>` };

/**
 * Returns the first fault of inputs by the prompt's config; undefined if there is none or the config is unknown.
 *
 * @param unchecked the hint for what can be sent anyway; none for a command without `--no-validate`
 */
export function inputFault(
  fields: InputFields,
  inputs: Inputs,
  unchecked: readonly string[] = UNCHECKED,
  way: InputWay = BY_FLAG,
): CliError | undefined {
  return (
    suppliedInputFault(fields, inputs, unchecked) ??
    (fields.known ? missingInput(fields, inputs, way) : undefined)
  );
}

/** Returns the fault of the inputs like `inputFault`, but ignores missing ones, which can still be asked for. */
export function suppliedInputFault(
  fields: InputFields,
  inputs: Inputs,
  unchecked: readonly string[] = UNCHECKED,
): CliError | undefined {
  if (!fields.known) return undefined;
  return (
    unknownInput(fields, inputs.text, unchecked) ??
    wrongChoice(fields, inputs.text, unchecked) ??
    tooManyImages(fields, inputs)
  );
}

/** Throws the result of `inputFault`, if any. */
export function refuseInputFault(
  fields: InputFields,
  inputs: Inputs,
  unchecked: readonly string[] = UNCHECKED,
  way?: InputWay,
): void {
  const fault = inputFault(fields, inputs, unchecked, way);
  if (fault !== undefined) throw fault;
}

/** Returns the name of an image input for messages. */
function imageLabel({ name, description }: ImageField, at: number): string {
  const called = name ?? `image ${at + 1}`;
  return description === undefined ? called : `${called} (${description})`;
}

function unknownInput(
  fields: InputFields,
  text: ReadonlyMap<string, string>,
  unchecked: readonly string[],
): CliError | undefined {
  const keys = fields.text.map(field => field.key);
  const strange = [...text.keys()].find(key => !keys.includes(key));
  if (strange === undefined) return undefined;
  const names = [...keys, ...fields.images.flatMap(({ name }) => name ?? [])];
  return usageError(
    `the prompt has no input ${JSON.stringify(strange)}${didYouMean(strange, names)}`,
    names.length === 0 ? 'It takes no text inputs.' : `Its inputs: ${names.join(', ')}`,
    ...unchecked,
  );
}

function wrongChoice(
  fields: InputFields,
  text: ReadonlyMap<string, string>,
  unchecked: readonly string[],
): CliError | undefined {
  for (const { key, choices, multiple } of fields.text) {
    const value = text.get(key);
    if (value === undefined || choices === undefined || choices.includes(value)) continue;
    const invalidValue = (multiple === undefined ? [value] : value.split(', ')).find(
      choice => !choices.includes(choice),
    );
    if (invalidValue === undefined) continue;
    return usageError(
      `the input ${key} can't be ${JSON.stringify(invalidValue)}${didYouMean(invalidValue, choices)}`,
      `Its choices: ${choices.join(', ')}`,
      ...unchecked,
    );
  }
  return undefined;
}

/** Returns the fault that names every missing input; undefined if none is missing. */
export function missingInput(
  fields: InputFields,
  { text, images }: Inputs<unknown>,
  way: InputWay = BY_FLAG,
): CliError | undefined {
  const texts = fields.text.filter(({ key, required }) => required && !text.has(key));
  const pictures = fields.images.flatMap((field, index) =>
    images[index] === undefined ? [{ field, at: index }] : [],
  );
  const names = [...texts.map(({ key }) => key), ...pictures.map(({ field, at }) => imageLabel(field, at))];
  if (names.length === 0) return undefined;
  const byName = pictures.flatMap(({ field: { name } }) =>
    name === undefined ? [] : [`Give it ${way.image(name)}`],
  );
  return usageError(
    `missing input${names.length === 1 ? '' : 's'}: ${names.join(', ')}`,
    ...texts.map(({ key, description }) =>
      [`Give it ${way.text(key)}`, ...(description === undefined ? [] : [description])].join(': '),
    ),
    ...byName,
    ...(pictures.length > byName.length
      ? [`The prompt takes ${countText(fields.images.length)}: --image <file>`]
      : []),
  );
}

function tooManyImages(fields: InputFields, { images }: Inputs): CliError | undefined {
  const wanted = fields.images.length;
  // A config without images may only omit them, so the service decides.
  if (wanted === 0 || images.length <= wanted) return undefined;
  return usageError(`the prompt takes ${countText(wanted)}, not ${images.length}`);
}

function countText(images: number): string {
  return images === 1 ? 'one image' : `${images} images`;
}
