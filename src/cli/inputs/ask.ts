import type { Context } from '../context.ts';
import { isObject } from '../core/json-value.ts';
import { countWanted } from '../questions/choices.ts';
import type { Choice, Prompter } from '../questions/types.ts';
import { askFreely, problemOf } from './ask-freely.ts';
import { openImage } from './images/image-source.ts';
import type { RunInputs } from './images/place-images.ts';
import type { ImageField, InputFields, TextField } from './input-fields.ts';
import { inputText } from './literal.ts';

/** What the prompts of the service take as images, by their names; any other may be typed as well. */
const IMAGE_NAME = /\.(png|jpe?g|webp|gif|avif|bmp|tiff?|heic|heif|svg|ico|jxl)$/i;

/** What a person answered, as the command line takes it. */
export interface Answers {
  readonly text: readonly (readonly [key: string, value: string])[];
  readonly images: readonly string[];
}

/** Asks for what the prompt wants and was not given, each by its type. What was given is never asked for again. */
export async function askForInputs(
  ctx: Context,
  fields: InputFields,
  given: RunInputs,
): Promise<{ inputs: RunInputs; answers: Answers }> {
  if (!fields.known) {
    const text = given.text.size + given.images.length > 0 ? [] : await askFreely(ctx);
    return { inputs: { ...given, text: new Map([...given.text, ...text]) }, answers: { text, images: [] } };
  }
  const text: [string, string][] = [];
  for (const field of fields.text.filter(({ key }) => !given.text.has(key))) {
    const answer = await askForText(ctx, field);
    if (answer !== undefined) text.push([field.key, answer]);
  }
  const images = [...given.images];
  const files: string[] = [];
  for (const [at, field] of fields.images.entries()) {
    if (images[at] !== undefined) continue;
    const file = await askForImage(ctx, field, { at, of: fields.images.length });
    images[at] = await openImage(ctx, file);
    files.push(field.name === undefined ? file : `${field.name}=${file}`);
  }
  return {
    inputs: { text: new Map([...given.text, ...text]), images },
    answers: { text, images: files },
  };
}

/** Undefined if an optional field is left out. */
async function askForText(ctx: Context, field: TextField): Promise<string | undefined> {
  const prompter = await ctx.prompter();
  const { choices, multiple, type, required } = field;
  const { signal } = ctx;
  const question = {
    message: field.key,
    ...(field.description !== undefined && { description: field.description }),
    required,
  };
  if (choices !== undefined) {
    return multiple === undefined
      ? askForChoice(ctx, prompter, { ...field, choices })
      : askForSeveral(ctx, prompter, { ...field, choices, multiple });
  }
  const standard = field.default;
  if (type === 'number' || type === 'integer') {
    const number = Number(standard);
    const isNumber = standard !== undefined && standard.trim() !== '' && !Number.isNaN(number);
    const answer = await prompter.number(
      { ...question, integer: type === 'integer', ...(isNumber && { default: number }) },
      signal,
    );
    return answer === undefined ? undefined : String(answer);
  }
  if (type === 'boolean') {
    return String(await prompter.confirm({ ...question, default: standard === 'true' }, signal));
  }
  if (type === 'array') {
    const items = await prompter.list({ ...question, ...defaultItems(standard) }, signal);
    return items.length === 0 && !required ? undefined : JSON.stringify(items.map(asItem(field)));
  }
  const answer = await prompter.text(
    {
      ...question,
      ...(standard !== undefined && { default: standard }),
      ...(type === 'object' && { check: jsonProblem }),
    },
    signal,
  );
  return answer === '' && standard === undefined ? undefined : answer;
}

function defaultItems(standard: string | undefined): { default?: readonly string[] } {
  const parsed = standard === undefined ? undefined : parsedJson(standard);
  return Array.isArray(parsed) ? { default: parsed.map(item => inputText(item) ?? '') } : {};
}

/** An item as JSON holds it: a number or a boolean where the list is one of those. */
function asItem({ items }: TextField): (text: string) => unknown {
  return text => (items === undefined ? text : (parsedJson(text) ?? text));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function jsonProblem(answer: string): string | undefined {
  return answer === '' || isObject(parsedJson(answer))
    ? undefined
    : 'This takes a JSON object: {"key": "value"}.';
}

type Listed = TextField & { readonly choices: readonly string[] };

function namedChoices({ choices, labels }: Listed): Choice<string>[] {
  return choices.map(value => ({ value, name: labels?.get(value) ?? value }));
}

async function askForChoice(ctx: Context, prompter: Prompter, field: Listed): Promise<string | undefined> {
  const choices: Choice<string | undefined>[] = namedChoices(field);
  const standard = field.default;
  if (!field.required && (standard === undefined || !field.choices.includes(standard))) {
    choices.unshift({ value: undefined, name: standard === undefined ? '(none)' : `(default: ${standard})` });
  }
  return prompter.choice(
    {
      message: field.key,
      ...(field.description !== undefined && { description: field.description }),
      choices,
      ...(standard !== undefined && { default: standard }),
    },
    ctx.signal,
  );
}

async function askForSeveral(
  ctx: Context,
  prompter: Prompter,
  field: Listed & { readonly multiple: NonNullable<TextField['multiple']> },
): Promise<string | undefined> {
  const { min, max } = bounds(field);
  const asked = max === Number.POSITIVE_INFINITY && min === 0 ? 'any number' : countWanted(min, max);
  const standard = field.default?.split(', ') ?? [];
  const chosen = await prompter.several(
    {
      message: field.key,
      description: [field.description, `(${asked})`].filter(Boolean).join(' '),
      choices: namedChoices(field),
      defaults: field.choices.filter(choice => standard.includes(choice)),
      min,
      max,
    },
    ctx.signal,
  );
  return chosen.length === 0 && !field.required ? undefined : chosen.join(', ');
}

/** The bounds as far as the choices can meet them, so that the impossible is never asked for. */
function bounds(field: Listed & { readonly multiple: NonNullable<TextField['multiple']> }): {
  min: number;
  max: number;
} {
  const { min = field.required ? 1 : 0, max = Number.POSITIVE_INFINITY } = field.multiple;
  const least = Math.min(min, field.choices.length);
  return { min: least, max: Math.max(max, least, 1) };
}

async function askForImage(
  ctx: Context,
  { name, description }: ImageField,
  { at, of }: { readonly at: number; readonly of: number },
): Promise<string> {
  const prompter = await ctx.prompter();
  return prompter.path(
    {
      message: name ?? (of === 1 ? 'image' : `image ${at + 1} of ${of}`),
      description: description ?? 'a file or an https URL',
      proposes: file => IMAGE_NAME.test(file),
      check: answer => imageProblem(ctx, answer),
    },
    ctx.signal,
  );
}

/** What `--image` would say of it. */
async function imageProblem(ctx: Context, answer: string): Promise<string | undefined> {
  if (answer === '-') {
    return 'Standard input is this terminal: give a file or an https URL.';
  }
  return problemOf(() => openImage(ctx, answer), '--image: ');
}
