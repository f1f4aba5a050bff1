import { MODALITIES, type Model } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import type { Choice } from '../questions/types.ts';

/** How long a person is kept waiting for something that is not needed, in milliseconds. */
const LONGEST_WAIT_MS = 5000;

/** The values of a run option and the models that take it. */
interface Offered {
  readonly values: Set<string>;
  readonly models: Set<string>;
}

/** What the search results say of a prompt; undefined where not known. */
interface ChosenPrompt {
  /** 0 text, 1 image. */
  readonly modality?: number;
  /** The place of its model among the models. */
  readonly model?: number;
}

/** Lets a person set run options one after the other, as `key=value`; nothing to choose where no model has any. */
export async function pickOptions(
  ctx: Context,
  connection: Connection,
  prompt: ChosenPrompt,
): Promise<readonly string[]> {
  const models = await modelsOf(ctx, connection);
  const offered = offeredOptions(models.filter((model, at) => mayBeUsed(connection, prompt, model, at)));
  const chosen = new Map<string, string>();
  while (offered.size > 0) {
    const key = await pickKey(ctx, offered, chosen);
    if (key === undefined) {
      break;
    }
    const value = await pickValue(ctx, key, offered.get(key)?.values ?? new Set());
    if (value === undefined) {
      chosen.delete(key);
    } else {
      chosen.set(key, value);
    }
  }
  return pairs(chosen);
}

/** Options are never needed, so a service that can't list them stops nothing. */
async function modelsOf(ctx: Context, connection: Connection): Promise<readonly Model[]> {
  const { resources } = connection;
  const { signal } = ctx;
  try {
    if (resources.cached() === undefined)
      await resources.refresh({ signal, retries: 0, timeoutMs: LONGEST_WAIT_MS });
    return await resources.models({ signal });
  } catch {
    ctx.signal.throwIfAborted();
    return [];
  }
}

/** Whether the prompt uses the model, as far as is known: what the index counts is certain of our own service only. */
function mayBeUsed(
  { embedded }: Connection,
  { model: index, modality }: ChosenPrompt,
  model: Model,
  at: number,
): boolean {
  if (embedded && index !== undefined) return at === index;
  return modality === undefined || model.modality === MODALITIES[modality];
}

function offeredOptions(models: readonly Model[]): Map<string, Offered> {
  const offered = new Map<string, Offered>();
  for (const model of models) {
    for (const { key, options } of model.availableRunOptions) {
      const { values, models: takers } = offered.get(key) ?? { values: new Set(), models: new Set() };
      offered.set(key, {
        values: new Set([...values, ...options]),
        models: new Set([...takers, model.model]),
      });
    }
  }
  return offered;
}

/** Undefined once there is nothing more to set. */
async function pickKey(
  ctx: Context,
  offered: ReadonlyMap<string, Offered>,
  chosen: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const set = pairs(chosen);
  const choices: Choice<string | undefined>[] = [
    { value: undefined, name: set.length === 0 ? 'the defaults' : `go on with ${set.join(' ')}` },
    ...[...offered].map(([key, { values, models }]) => ({
      value: key,
      name: key,
      description: `${[...values].join(', ')}, for ${[...models].join(', ')}`,
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

function pairs(chosen: ReadonlyMap<string, string>): readonly string[] {
  return [...chosen].map(([key, value]) => `${key}=${value}`);
}
