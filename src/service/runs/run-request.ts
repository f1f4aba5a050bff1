import type { ImageInput } from '../../wire/index.ts';
import { ApiError, invalid } from '../http/api-error.ts';
import { type ModelEntry, PROVIDER_SETTINGS } from '../models/entry.ts';
import { PastBound } from '../prompts/bounds.ts';
import { InvalidInputs, type PromptDefinition } from '../prompts/definition.ts';
import { TasksClosed } from '../prompts/tasks/messages.ts';
import type { TextsWork } from '../prompts/tasks/tasks.ts';
import type { CreateRun } from '../schemas/runs.ts';

/** The inputs of a run that its prompt and its model accept. */
export interface CheckedInputs {
  /** Only keys the prompt has. */
  textInputs: Record<string, string>;
  images: ImageInput[];
  runOptions: Record<string, string>;
}

/** Reads the texts of a run as its prompt's schema wants them, to see whether they fit. */
type ReadTexts = (work: TextsWork) => Promise<unknown>;

/** Throws a validation error that names the field and the rule it breaks. */
export async function checkInputs(
  body: CreateRun,
  definition: PromptDefinition,
  model: ModelEntry,
  readTexts: ReadTexts,
): Promise<CheckedInputs> {
  const { textInputs = {}, imageInputs = [] } = body.inputs;
  return {
    textInputs: await checkTexts(textInputs, definition, readTexts),
    images: checkImageCount(imageInputs, definition),
    runOptions: checkRunOptions(body.runOptions ?? {}, model),
  };
}

/** Keys the prompt does not know are ignored. */
async function checkTexts(
  given: Record<string, string>,
  definition: PromptDefinition,
  readTexts: ReadTexts,
): Promise<Record<string, string>> {
  const { textInputs, input } = definition;
  try {
    await readTexts({ definition: { textInputs, input }, texts: given });
  } catch (error) {
    if (error instanceof InvalidInputs || error instanceof PastBound) throw invalid(error.message);
    if (error instanceof TasksClosed) throw new ApiError('SERVICE_UNAVAILABLE_ERROR', error.message);
    throw error;
  }
  const keys = definition.textInputs.map(({ key }) => key).filter(key => Object.hasOwn(given, key));
  return Object.fromEntries(keys.map(key => [key, given[key] ?? '']));
}

function checkImageCount(given: ImageInput[], { imageInputs }: PromptDefinition): ImageInput[] {
  const wanted = imageInputs.length;
  if (given.length === wanted) return given;
  const images = wanted === 1 ? '1 image' : `${wanted} images`;
  throw invalid(`inputs.imageInputs must hold ${images}, not ${given.length}`);
}

/** @throws {ApiError} that names what the model accepts */
export function checkRunOptions(
  given: Record<string, string>,
  { model, provider, runOptions }: ModelEntry,
): Record<string, string> {
  for (const [key, value] of Object.entries(given)) {
    const option = runOptions.find(option => option.key === key);
    // What an endpoint takes is known to nobody but itself.
    if (!option && provider && PROVIDER_SETTINGS.has(key)) continue;
    if (!option) {
      throw invalid(`runOptions.${key} is not a run option of the model ${model}${accepted(runOptions)}`);
    }
    if (!option.options.includes(value)) {
      throw invalid(`runOptions.${key} must be one of ${option.options.join(', ')}`);
    }
  }
  return given;
}

function accepted(runOptions: readonly { key: string }[]): string {
  return runOptions.length === 0
    ? ', which has none'
    : `: it has ${runOptions.map(({ key }) => key).join(', ')}`;
}
