import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import { InvalidInputsError, type PromptDefinition } from '../definition.ts';
import type { RenderLimits } from '../template/render-budget.ts';
import { renderTemplate } from '../template/render-template.ts';
import type { TemplateMessage } from '../template/template-messages.ts';
import { completeTemplate, toPromptVariables } from './render-prompt.ts';
import { readTextInputs } from './typed-inputs.ts';

/**
 * The request that a model would get, in the form of the dotprompt specification, with JSON
 * Schemas.
 */
export interface PromptPreview {
  readonly messages: readonly TemplateMessage[];
  readonly input?: PromptDefinition['input'];
  readonly output?: PromptDefinition['output'];
  readonly config: JsonObject;
  /** The model as written in the file; omitted if it names none. */
  readonly model?: string;
  readonly ext: JsonObject;
}

export interface PreviewInputs {
  /** Values, used unchanged. The value of an image is a URL of any kind. */
  readonly inputs?: JsonObject;
  /** URLs of the images that `inputs` lacks, in the prompt's order. */
  readonly images?: readonly string[];
  /** Variables such as `@state`; runs have none. */
  readonly context?: JsonObject;
  /** Earlier messages, for `{{history}}`; runs have none. */
  readonly history?: readonly TemplateMessage[];
}

/**
 * Inputs with texts that get their types from the prompt's schema, as in a run; they win over
 * `inputs`.
 */
export interface TypedPreviewInputs extends PreviewInputs {
  readonly texts?: Readonly<Record<string, string>>;
}

/**
 * Renders a prompt from text inputs, as a run does, without running it. Fetches nothing.
 *
 * @throws {InvalidInputsError} that names every required input that is missing
 * @throws {LimitExceededError} if a limit is exceeded; the message names it
 */
export async function previewFromTexts(
  definition: PromptDefinition,
  { texts = {}, ...values }: TypedPreviewInputs,
): Promise<PromptPreview> {
  const { input } = definition;
  const textInputs = definition.textInputs.filter(({ key }) => Object.hasOwn(texts, key));
  const typed = await readTextInputs({ input, textInputs }, texts);
  return previewPrompt(definition, { ...values, inputs: { ...values.inputs, ...texts, ...typed } });
}

/**
 * Renders a prompt without running it. Fetches nothing.
 *
 * @throws {InvalidInputsError} that names every required input that is missing
 * @throws {LimitExceededError} if a limit is exceeded; the message names it
 */
export function previewPrompt(
  definition: PromptDefinition,
  values: PreviewInputs,
  limits?: RenderLimits,
): PromptPreview {
  const inputs = buildPreviewInputs(definition, values);
  const variables = { ...values.context, ...toPromptVariables(definition) };
  const history = values.history ?? [];
  const messages = renderTemplate(
    completeTemplate(definition),
    { inputs, variables, history },
    limits,
  );

  const { input, output, config, model, namesModel, ext } = definition;
  return {
    messages,
    ...(Object.keys(input).length > 0 && { input }),
    ...(Object.keys(output).length > 0 && { output }),
    config,
    ...(namesModel && { model }),
    ext,
  };
}

function buildPreviewInputs(
  definition: PromptDefinition,
  { inputs = {}, images = [] }: PreviewInputs,
): JsonObject {
  const { textInputs, imageInputs, input } = definition;
  const unfilledImages = imageInputs.filter(({ key }) => !Object.hasOwn(inputs, key));
  const placedUrls = unfilledImages.flatMap(({ key }, index): [string, JsonValue][] => {
    const url = images[index];
    return url === undefined ? [] : [[key, url]];
  });
  const values = {
    ...collectSchemaDefaults(definition),
    ...inputs,
    ...Object.fromEntries(placedUrls),
  };

  const neededKeys = [...textInputs.filter(({ required }) => required), ...imageInputs].map(
    ({ key }) => key,
  );
  const missingKeys = neededKeys.filter(key => !Object.hasOwn(values, key));
  if (missingKeys.length > 0) {
    throw new InvalidInputsError(missingKeys.map(key => `the input ${key} is required`));
  }

  if (images.length > unfilledImages.length) {
    throw new InvalidInputsError([
      `the prompt takes ${unfilledImages.length} more pictures, not ${images.length}`,
    ]);
  }

  return input.default ? { ...input.default, ...values } : values;
}

/** Returns the defaults in the fields of a schema. */
function collectSchemaDefaults({ textInputs }: PromptDefinition): JsonObject {
  const defaults = textInputs.map(({ key, schema }) => [key, schema?.['default']] as const);
  return Object.fromEntries(
    defaults.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}
