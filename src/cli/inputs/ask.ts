import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { countWanted } from '../questions/choices.ts';
import type { Choice, Prompter } from '../questions/types.ts';
import { openImage } from './images/open-image.ts';
import type { ImageField, InputFields, TextField } from './schema/fields.ts';
import { type CollectedInputs, collectInputs } from './text-inputs.ts';

/** What the prompts of the service take as images, by their names; any other may be typed as well. */
const IMAGE_NAME = /\.(png|jpe?g|webp|gif|avif|bmp|tiff?|heic|heif|svg|ico|jxl)$/i;

/** Asks for what the prompt wants and was not given. What was given already is never asked for again. */
export async function askForInputs(
  ctx: Context,
  fields: InputFields,
  given: CollectedInputs,
): Promise<CollectedInputs> {
  if (!fields.known) {
    return given.text.size + given.images.length > 0 ? given : askFreely(ctx, given);
  }
  const text = new Map(given.text);
  for (const field of fields.text.filter(({ key }) => !given.text.has(key))) {
    const answer = await askForText(ctx, field);
    if (answer !== undefined) {
      text.set(field.key, answer);
    }
  }
  return { text, images: await askForImages(ctx, fields.images, given.images) };
}

/** Undefined where an optional field is left out. */
async function askForText(ctx: Context, field: TextField): Promise<string | undefined> {
  const prompter = await ctx.prompter();
  if (field.choices === undefined) {
    return askForLine(ctx, prompter, field);
  }
  return field.multiple === undefined
    ? askForChoice(ctx, prompter, { ...field, choices: field.choices })
    : askForSeveral(ctx, prompter, { ...field, choices: field.choices, multiple: field.multiple });
}

async function askForLine(ctx: Context, prompter: Prompter, field: TextField): Promise<string | undefined> {
  const answer = await prompter.text(
    {
      message: field.key,
      ...(field.description !== undefined && { description: field.description }),
      ...(field.default !== undefined && { default: field.default }),
      required: field.required,
    },
    ctx.signal,
  );
  return answer === '' && field.default === undefined ? undefined : answer;
}

type Listed = TextField & { readonly choices: readonly string[] };

async function askForChoice(ctx: Context, prompter: Prompter, field: Listed): Promise<string | undefined> {
  const choices: Choice<string | undefined>[] = field.choices.map(value => ({ value, name: value }));
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
      choices: field.choices.map(value => ({ value, name: value })),
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

async function askForImages(
  ctx: Context,
  fields: readonly ImageField[],
  given: readonly string[],
): Promise<readonly string[]> {
  const images = [...given];
  for (const [at, field] of fields.entries()) {
    if (at >= given.length) {
      const message = fields.length === 1 ? 'image' : `image ${at + 1} of ${fields.length}`;
      images.push(await askForImage(ctx, message, field));
    }
  }
  return images;
}

async function askForImage(ctx: Context, message: string, field: ImageField): Promise<string> {
  const prompter = await ctx.prompter();
  return prompter.path(
    {
      message,
      description: field.description ?? 'a file or an https URL',
      proposes: name => IMAGE_NAME.test(name),
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

/** Takes `key=value` pairs, as `--input` does, until an empty line. */
export async function askFreely(ctx: Context, given: CollectedInputs): Promise<CollectedInputs> {
  const prompter = await ctx.prompter();
  const text = new Map(given.text);
  for (;;) {
    const answer = await prompter.text(
      {
        message: 'input',
        description:
          text.size === 0
            ? 'This prompt does not tell which inputs it takes: enter them as key=value; an empty line goes on.'
            : 'One more as key=value; an empty line goes on.',
        check: pair => pairProblem(ctx, pair),
      },
      ctx.signal,
    );
    if (answer === '') {
      return { text, images: given.images };
    }
    for (const [key, value] of await read(ctx, answer)) {
      text.set(key, value);
    }
  }
}

async function read(ctx: Context, pair: string): Promise<ReadonlyMap<string, string>> {
  return (await collectInputs(ctx, { inputs: pairsIn(pair), images: [] })).text;
}

/** Several pairs pasted at once, or one whose value has several lines. */
function pairsIn(answer: string): readonly string[] {
  const lines = answer.split('\n');
  return lines.every(line => /^[^=\s][^=]*=/u.test(line)) ? lines : [answer];
}

/** What `--input` would say of it. */
async function pairProblem(ctx: Context, pair: string): Promise<string | undefined> {
  if (pair === '') {
    return undefined;
  }
  if (pairsIn(pair).some(one => one.endsWith('=@-'))) {
    return 'Standard input is this terminal: give the value or @file.';
  }
  return problemOf(() => read(ctx, pair), '--input ');
}

/** Why an answer can't be used, without the name of the flag that would say so; undefined where it can. */
async function problemOf(use: () => Promise<unknown>, flag: string): Promise<string | undefined> {
  try {
    await use();
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message } = error;
    return message.startsWith(flag) ? message.slice(flag.length) : message;
  }
}
