import { parseJson } from '../../files/formats/json.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Context } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { formatChoiceCount } from '../questions/choices.ts';
import type { Choice, Prompter, Question } from '../questions/question.ts';
import { openImage } from './images/image-source.ts';
import type { PlacedInputs } from './images/place-images.ts';
import type { ImageField, InputFields, TextField } from './input-fields.ts';
import { renderInputText } from './json-as-written.ts';
import { collectInputs } from './text-inputs.ts';

/** File names to suggest as images; any other name may be typed. */
const IMAGE_NAME = /\.(png|jpe?g|webp|gif|avif|bmp|tiff?|heic|heif|svg|ico|jxl)$/i;

/** A person's answers, in the form of the command line. */
export interface QuestionAnswers {
  readonly text: readonly (readonly [key: string, value: string])[];
  readonly images: readonly string[];
}

/**
 * Asks for the missing inputs. If the prompt doesn't say which inputs it takes, asks for any, unless
 * some were supplied.
 */
export async function askForInputs(
  ctx: Context,
  fields: InputFields,
  suppliedInputs: PlacedInputs,
): Promise<{ inputs: PlacedInputs; answers: QuestionAnswers }> {
  const suppliedCount = suppliedInputs.text.size + suppliedInputs.images.length;
  if (!fields.isKnown && suppliedCount > 0) {
    return { inputs: suppliedInputs, answers: { text: [], images: [] } };
  }

  const texts = fields.isKnown
    ? await askForTexts(ctx, fields, suppliedInputs)
    : await askForAnyInputs(ctx);
  const { images, imageFlags } = await askForImages(ctx, fields, suppliedInputs);

  return {
    inputs: { text: new Map([...suppliedInputs.text, ...texts]), images },
    answers: { text: texts, images: imageFlags },
  };
}

async function askForTexts(
  ctx: Context,
  fields: InputFields,
  suppliedInputs: PlacedInputs,
): Promise<[key: string, value: string][]> {
  const prompter = await ctx.prompter();
  const texts: [key: string, value: string][] = [];
  for (const field of fields.text.filter(({ key }) => !suppliedInputs.text.has(key))) {
    const { key, description, required } = field;
    const baseQuestion = { message: key, description, required };
    const ask = ASK_BY_KIND[chooseQuestionKind(field)];
    const answer = await ask({ prompter, field, baseQuestion: baseQuestion, signal: ctx.signal });
    if (answer !== undefined) texts.push([key, answer]);
  }

  return texts;
}

/**
 * Asks for the missing images. Returns all images in the prompt's order, and the answers in the form
 * of `--image`.
 */
async function askForImages(
  ctx: Context,
  fields: InputFields,
  suppliedInputs: PlacedInputs,
): Promise<{ images: PlacedInputs['images']; imageFlags: readonly string[] }> {
  const images = [...suppliedInputs.images];
  const imageFlags: string[] = [];
  for (const [index, field] of fields.images.entries()) {
    if (images[index] !== undefined) continue;
    const label =
      fields.images.length === 1 ? 'image' : `image ${index + 1} of ${fields.images.length}`;
    const file = await askForImage(ctx, field, label);
    images[index] = await openImage(ctx, file);
    imageFlags.push(field.name === undefined ? file : `${field.name}=${file}`);
  }

  return { images, imageFlags };
}

/** A question about one input. */
interface InputQuestion {
  readonly prompter: Prompter;
  readonly field: TextField;
  /** The parts of the question that all kinds have. */
  readonly baseQuestion: Question & { readonly required: boolean };
  readonly signal: AbortSignal;
}

/** Asks for one input; undefined if an optional one is left out. */
type AskForInput = (question: InputQuestion) => Promise<string | undefined>;

type QuestionKind = 'text' | 'object' | 'number' | 'boolean' | 'array' | 'choice' | 'several';

function chooseQuestionKind({ choices, multiple, type }: TextField): QuestionKind {
  if (choices !== undefined) return multiple === undefined ? 'choice' : 'several';
  return type === 'integer' ? 'number' : (type ?? 'text');
}

async function askForText({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string | undefined> {
  const answer = await prompter.text({ ...baseQuestion, default: field.default }, signal);
  return unlessEmpty(answer, field);
}

async function askForObject({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string | undefined> {
  const question = { ...baseQuestion, default: field.default, check: explainJsonProblem };
  return unlessEmpty(await prompter.text(question, signal), field);
}

async function askForNumber({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string | undefined> {
  const { type, default: defaultText = '' } = field;
  const hasNumber = defaultText.trim() !== '' && !Number.isNaN(Number(defaultText));
  const defaultNumber = hasNumber ? Number(defaultText) : undefined;
  const question = { ...baseQuestion, isInteger: type === 'integer', default: defaultNumber };
  const answer = await prompter.number(question, signal);
  return answer === undefined ? undefined : String(answer);
}

async function askForBoolean({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string> {
  return String(
    await prompter.confirm({ ...baseQuestion, default: field.default === 'true' }, signal),
  );
}

async function askForArray({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string | undefined> {
  const { default: defaultText = '', items } = field;
  const defaultList = parseJson(defaultText);
  const defaultItems = Array.isArray(defaultList)
    ? defaultList.map(item => renderInputText(item) ?? '')
    : undefined;
  const answers = await prompter.list({ ...baseQuestion, default: defaultItems }, signal);
  if (answers.length === 0 && !baseQuestion.required) return undefined;

  // Items of a list of numbers or booleans become JSON values.
  return JSON.stringify(
    answers.map(text => (items === undefined ? text : (parseJson(text) ?? text))),
  );
}

async function askForChoice({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string | undefined> {
  const { required, default: defaultValue, choices: values = [] } = field;
  const choices: Choice<string | undefined>[] = toNamedChoices(field);
  if (!required && (defaultValue === undefined || !values.includes(defaultValue))) {
    choices.unshift({
      value: undefined,
      name: defaultValue === undefined ? '(none)' : `(default: ${defaultValue})`,
    });
  }

  return prompter.choice({ ...baseQuestion, choices, default: defaultValue }, signal);
}

async function askForSeveral({
  prompter,
  field,
  baseQuestion,
  signal,
}: InputQuestion): Promise<string | undefined> {
  const { choices = [], default: defaultValue = '' } = field;
  const { min, max } = getChoiceLimits(field);
  const isUnlimited = min === 0 && max === Number.POSITIVE_INFINITY;
  const limitText = `(${isUnlimited ? 'any number' : formatChoiceCount(min, max)})`;

  const chosenValues = await prompter.multiselect(
    {
      ...baseQuestion,
      description: [baseQuestion.description, limitText].filter(Boolean).join(' '),
      choices: toNamedChoices(field),
      defaults: choices.filter(choice => defaultValue.split(', ').includes(choice)),
      min,
      max,
    },
    signal,
  );

  return chosenValues.length === 0 && !baseQuestion.required ? undefined : chosenValues.join(', ');
}

const ASK_BY_KIND: Readonly<Record<QuestionKind, AskForInput>> = {
  text: askForText,
  object: askForObject,
  number: askForNumber,
  boolean: askForBoolean,
  array: askForArray,
  choice: askForChoice,
  several: askForSeveral,
};

/** Returns an answer; undefined if nothing was entered for an input without a default. */
function unlessEmpty(answer: string, field: TextField): string | undefined {
  return answer === '' && field.default === undefined ? undefined : answer;
}

function explainJsonProblem(answer: string): string | undefined {
  const isValid = answer === '' || isJsonObject(parseJson(answer));
  return isValid ? undefined : 'This takes a JSON object: {"key": "value"}.';
}

function toNamedChoices({ choices = [], labels }: TextField): Choice<string>[] {
  return choices.map(value => ({ value, name: labels?.get(value) ?? value }));
}

/** Returns the minimum and maximum number of choices, limited to the choices that exist. */
function getChoiceLimits({ required, choices = [], multiple = {} }: TextField): {
  min: number;
  max: number;
} {
  const { min: declaredMin = required ? 1 : 0, max = Number.POSITIVE_INFINITY } = multiple;
  const min = Math.min(declaredMin, choices.length);
  return { min, max: Math.max(max, min, 1) };
}

async function askForImage(
  ctx: Context,
  { name, description = 'a file or an https URL' }: ImageField,
  label: string,
): Promise<string> {
  const prompter = await ctx.prompter();
  const message = name ?? label;
  const isProposed = (file: string): boolean => IMAGE_NAME.test(file);

  const check = (answer: string): string | Promise<string | undefined> =>
    answer === '-'
      ? 'Standard input is this terminal: give a file or an https URL.'
      : explainProblem(() => openImage(ctx, answer), '--image: ');

  return prompter.path({ message, description, isProposed, check }, ctx.signal);
}

/** Reads `key=value` pairs like `--input`, until an empty line. */
async function askForAnyInputs(ctx: Context): Promise<[key: string, value: string][]> {
  const prompter = await ctx.prompter();
  const texts = new Map<string, string>();
  for (;;) {
    const description =
      texts.size === 0
        ? 'This prompt does not say which inputs it takes: enter them as key=value; an empty line continues.'
        : 'One more as key=value; an empty line continues.';
    const check = (pair: string): Promise<string | undefined> => explainPairProblem(ctx, pair);
    const question = { message: 'input', lines: 'several items', description, check } as const;
    const answer = await prompter.text(question, ctx.signal);
    if (answer === '') return [...texts];

    for (const [key, value] of await readPairs(ctx, answer)) texts.set(key, value);
  }
}

async function readPairs(ctx: Context, answer: string): Promise<ReadonlyMap<string, string>> {
  return (await collectInputs(ctx, { inputs: splitPairs(answer), images: [] })).text;
}

/** Splits a pasted answer into pairs, unless it is one pair whose value has several lines. */
function splitPairs(answer: string): readonly string[] {
  const lines = answer.split('\n');
  return lines.every(line => /^[^=\s][^=]*=/u.test(line)) ? lines : [answer];
}

/** Explains why `--input` would refuse an answer; undefined if it would not. */
async function explainPairProblem(ctx: Context, answer: string): Promise<string | undefined> {
  if (answer === '') return undefined;
  if (splitPairs(answer).some(pair => pair.endsWith('=@-'))) {
    return 'Standard input is this terminal: give the value or @file.';
  }
  return explainProblem(() => readPairs(ctx, answer), '--input ');
}

/** Explains why an answer can't be used, without the name of the flag; undefined if it can. */
async function explainProblem(
  tryAnswer: () => Promise<unknown>,
  flag: string,
): Promise<string | undefined> {
  try {
    await tryAnswer();
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message } = error;
    return message.startsWith(flag) ? message.slice(flag.length) : message;
  }
}
