import { MODALITIES, type Model } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import type { Choice } from '../questions/question.ts';
import { collectAcceptedOptions } from './flag-values.ts';

/** Maximum wait for the models, without which no options are offered, in milliseconds. */
const MODELS_TIMEOUT_MS = 5000;

/** Facts from a prompt's search result; undefined if unknown. */
interface ChosenPrompt {
  /** 0 text, 1 image. */
  readonly modality?: number;
  /** The index of its model among the models. */
  readonly model?: number;
}

/**
 * Lets a person choose run options one by one, and returns them as `key=value`; empty if no model
 * has any.
 */
export async function pickOptions(
  ctx: Context,
  connection: Connection,
  prompt: ChosenPrompt,
): Promise<readonly string[]> {
  const allModels = await fetchOptionModels(ctx, connection);
  const models = allModels.filter((model, index) =>
    mayBeUsed(connection, prompt, { model, index }),
  );

  const acceptedValues = collectAcceptedOptions(models);
  const chosenValues = new Map<string, string>();
  while (acceptedValues.size > 0) {
    const chosenTexts = formatKeyValues(chosenValues);
    const key = await pickKey(ctx, { models, acceptedValues, chosenTexts });
    if (key === undefined) break;

    const value = await pickValue(ctx, key, acceptedValues.get(key) ?? new Set());
    if (value === undefined) {
      chosenValues.delete(key);
    } else {
      chosenValues.set(key, value);
    }
  }

  return formatKeyValues(chosenValues);
}

/** Returns the models; empty if the service can't list them, because options are optional. */
async function fetchOptionModels(ctx: Context, connection: Connection): Promise<readonly Model[]> {
  const { resources } = connection;
  const { signal } = ctx;
  try {
    if (resources.getCached() === undefined) {
      await resources.refresh({ signal, retries: 0, timeoutMs: MODELS_TIMEOUT_MS });
    }
    return await resources.getModels({ signal });
  } catch {
    ctx.signal.throwIfAborted();
    return [];
  }
}

/** Returns true if the prompt may use the model. The index is reliable only on a local service. */
function mayBeUsed(
  { isEmbedded }: Connection,
  { model: ownIndex, modality }: ChosenPrompt,
  { model, index }: { readonly model: Model; readonly index: number },
): boolean {
  if (isEmbedded && ownIndex !== undefined) return index === ownIndex;
  return modality === undefined || model.modality === MODALITIES[modality];
}

interface KeyChoices {
  readonly models: readonly Model[];
  /** The values that any of the models accepts, by option. */
  readonly acceptedValues: ReadonlyMap<string, ReadonlySet<string>>;
  /** The options chosen so far, as `key=value`. */
  readonly chosenTexts: readonly string[];
}

/** Asks for the next option; undefined once the person is done. */
async function pickKey(
  ctx: Context,
  { models, acceptedValues, chosenTexts }: KeyChoices,
): Promise<string | undefined> {
  const listAcceptingModels = (key: string): string[] =>
    models
      .filter(({ availableRunOptions: options }) => options.some(option => option.key === key))
      .map(({ model }) => model);

  const choices: Choice<string | undefined>[] = [
    {
      value: undefined,
      name: chosenTexts.length === 0 ? 'the defaults' : `continue with ${chosenTexts.join(' ')}`,
    },
    ...[...acceptedValues].map(([key, values]) => ({
      value: key,
      name: key,
      description: `${[...values].join(', ')}, for ${listAcceptingModels(key).join(', ')}`,
    })),
  ];

  const prompter = await ctx.prompter();
  return prompter.choice({ message: 'run options', choices }, ctx.signal);
}

async function pickValue(
  ctx: Context,
  key: string,
  values: ReadonlySet<string>,
): Promise<string | undefined> {
  const choices = [
    { value: undefined, name: '(default)' },
    ...[...values].map(value => ({ value, name: value })),
  ];
  const prompter = await ctx.prompter();
  return prompter.choice<string | undefined>({ message: key, choices }, ctx.signal);
}

function formatKeyValues(options: ReadonlyMap<string, string>): readonly string[] {
  return [...options].map(([key, value]) => `${key}=${value}`);
}
