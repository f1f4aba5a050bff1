import { didYouMean } from '../../utils/nearest-name.ts';
import { type CliError, usageError } from '../core/errors.ts';
import type { ImageField, InputFields } from './input-fields.ts';

interface CheckedInputs<Value = string> {
  readonly text: ReadonlyMap<string, Value>;
  /** The images in the prompt's order. */
  readonly images: readonly unknown[];
}

/** The hint of commands that can leave out the check. */
export const NO_VALIDATE_HINTS: readonly string[] = ['To send it anyway, add --no-validate.'];

/** The ways to give an input, as texts that complete `Give it …` in a hint. */
export interface InputHints {
  text(key: string): string;
  image(name: string): string;
}

const FLAG_HINTS: InputHints = {
  text: key => `with -i ${key}=…`,
  image: name => `with --image ${name}=<file>`,
};

/** The hints of a fault. */
interface FaultHints {
  /** Hints on how to send the inputs anyway; default `NO_VALIDATE_HINTS`, none if a command always checks. */
  readonly bypassHints?: readonly string[];
  /** Hints on how to give a missing input; default by flags. */
  readonly inputHints?: InputHints | undefined;
}

/**
 * Returns the first fault of inputs by the prompt's config; undefined if there is none or the
 * config is unknown.
 */
export function findInputFault(
  fields: InputFields,
  inputs: CheckedInputs,
  { bypassHints = NO_VALIDATE_HINTS, inputHints = FLAG_HINTS }: FaultHints = {},
): CliError | undefined {
  const suppliedFault = findSuppliedInputFault(fields, inputs, bypassHints);
  if (suppliedFault !== undefined || !fields.isKnown) return suppliedFault;
  return findMissingInputFault(fields, inputs, inputHints);
}

/**
 * Returns the fault of the inputs like `findInputFault`, but ignores missing ones, which can still
 * be asked for.
 */
export function findSuppliedInputFault(
  fields: InputFields,
  inputs: CheckedInputs,
  bypassHints: readonly string[] = NO_VALIDATE_HINTS,
): CliError | undefined {
  if (!fields.isKnown) return undefined;
  return (
    findUnknownInputFault(fields, inputs.text, bypassHints) ??
    findWrongChoiceFault(fields, inputs.text, bypassHints) ??
    findExcessImagesFault(fields, inputs)
  );
}

/** @throws {CliError} the result of `findInputFault`, if any */
export function checkInputs(
  fields: InputFields,
  inputs: CheckedInputs,
  hints: FaultHints = {},
): void {
  const fault = findInputFault(fields, inputs, hints);
  if (fault !== undefined) throw fault;
}

function findUnknownInputFault(
  fields: InputFields,
  text: ReadonlyMap<string, string>,
  bypassHints: readonly string[],
): CliError | undefined {
  const keys = fields.text.map(field => field.key);
  const unknownKey = [...text.keys()].find(key => !keys.includes(key));
  if (unknownKey === undefined) return undefined;

  const names = [...keys, ...fields.images.flatMap(({ name }) => name ?? [])];
  return usageError(
    `the prompt has no input ${JSON.stringify(unknownKey)}${didYouMean(unknownKey, names)}`,
    names.length === 0 ? 'It takes no text inputs.' : `Its inputs: ${names.join(', ')}`,
    ...bypassHints,
  );
}

function findWrongChoiceFault(
  fields: InputFields,
  text: ReadonlyMap<string, string>,
  bypassHints: readonly string[],
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
      ...bypassHints,
    );
  }
  return undefined;
}

/** Returns the fault that names every missing input; undefined if none is missing. */
export function findMissingInputFault(
  fields: InputFields,
  { text, images }: CheckedInputs<unknown>,
  inputHints: InputHints = FLAG_HINTS,
): CliError | undefined {
  const missingTexts = fields.text.filter(({ key, required }) => required && !text.has(key));
  const missingImages = fields.images
    .map((field, index) => ({ ...field, index }))
    .filter(({ index }) => images[index] === undefined);
  const labels = [...missingTexts.map(({ key }) => key), ...missingImages.map(describeImageInput)];
  if (labels.length === 0) return undefined;

  const textHints = missingTexts.map(({ key, description }) => {
    const hint = `Give it ${inputHints.text(key)}`;
    return description === undefined ? hint : `${hint}: ${description}`;
  });
  const imageHints = missingImages.flatMap(({ name }) =>
    name === undefined ? [] : [`Give it ${inputHints.image(name)}`],
  );
  const unnamedHint = `The prompt takes ${formatImageCount(fields.images.length)}: --image <file>`;

  return usageError(
    `missing input${labels.length === 1 ? '' : 's'}: ${labels.join(', ')}`,
    ...textHints,
    ...imageHints,
    ...(missingImages.length > imageHints.length ? [unnamedHint] : []),
  );
}

/** Returns the name of an image input for messages. */
function describeImageInput({
  name,
  description,
  index,
}: ImageField & { readonly index: number }): string {
  const label = name ?? `image ${index + 1}`;
  return description === undefined ? label : `${label} (${description})`;
}

function findExcessImagesFault(
  fields: InputFields,
  { images }: CheckedInputs,
): CliError | undefined {
  const maxCount = fields.images.length;
  // A config without images may only omit them, so the service decides.
  if (maxCount === 0 || images.length <= maxCount) return undefined;
  return usageError(`the prompt takes ${formatImageCount(maxCount)}, not ${images.length}`);
}

function formatImageCount(count: number): string {
  return count === 1 ? 'one image' : `${count} images`;
}
