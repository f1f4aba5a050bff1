import type { ImageInput } from '../../wire/index.ts';
import { invalid } from '../http/api-error.ts';
import { type ModelEntry, PROVIDER_SETTINGS } from '../models/index.ts';
import type { PromptDefinition } from '../prompts/index.ts';
import type { CreateRun } from '../schemas/runs.ts';

/** The inputs of a run that its prompt and its model accept. */
export interface CheckedInputs {
  /** Only keys the prompt has. */
  textInputs: Record<string, string>;
  images: ImageInput[];
  runOptions: Record<string, string>;
}

/** Throws a validation error that names the field and the rule it breaks (interface §4.2). */
export function checkInputs(body: CreateRun, definition: PromptDefinition, model: ModelEntry): CheckedInputs {
  const { textInputs = {}, imageInputs = [] } = body.inputs;
  return {
    textInputs: checkTexts(textInputs, definition),
    images: checkImageCount(imageInputs, definition),
    runOptions: checkRunOptions(body.runOptions ?? {}, model),
  };
}

/** Keys the prompt does not know are ignored (service-facts, decisions). */
function checkTexts(given: Record<string, string>, { textInputs }: PromptDefinition): Record<string, string> {
  const entries = textInputs.flatMap(input => {
    const field = `inputs.textInputs.${input.key}`;
    const value = Object.hasOwn(given, input.key) ? given[input.key] : undefined;
    if (value === undefined && input.required) throw invalid(`${field} is required`);
    if (value === undefined) return [];
    if (input.enum && !input.enum.includes(value)) {
      throw invalid(`${field} must be one of ${input.enum.join(', ')}`);
    }
    return [[input.key, value] as const];
  });
  return Object.fromEntries(entries);
}

function checkImageCount(given: ImageInput[], { imageInputs }: PromptDefinition): ImageInput[] {
  const wanted = imageInputs.length;
  if (given.length === wanted) return given;
  const images = wanted === 1 ? '1 image' : `${wanted} images`;
  throw invalid(`inputs.imageInputs must hold ${images}, not ${given.length}`);
}

function checkRunOptions(
  given: Record<string, string>,
  { model, engine, runOptions }: ModelEntry,
): Record<string, string> {
  for (const [key, value] of Object.entries(given)) {
    const option = runOptions.find(option => option.key === key);
    // What an endpoint takes is known to nobody but itself.
    if (!option && engine === 'openai-compatible' && PROVIDER_SETTINGS.has(key)) continue;
    if (!option) {
      throw invalid(`runOptions.${key} is no run option of the model ${model}${accepted(runOptions)}`);
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
