import { parseJson } from '../../files/formats/json.ts';
import type { ModelTable } from '../../models/catalogue/model-table.ts';
import { usesPlaceholder } from '../../models/declared-model.ts';
import { type ModelEntry, PROVIDER_SETTINGS } from '../../models/model-entry.ts';
import { InvalidInputsError, type PromptDefinition } from '../../prompts/definition.ts';
import { findOptionFault } from '../../prompts/parse/option-values.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import type { CreateRunRequest, ImageInput } from '../../wire/index.ts';
import { invalidRequest, notFound, Refusal } from '../core/refusal.ts';
import type { Definitions } from '../prompts/definitions.ts';
import type { Store } from '../store/store.ts';

/** The services that checking a creation needs. */
export interface RequestCheckServices {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly models: ModelTable;
  readonly tasks: PromptTasks;
  /**
   * Called with remedies for a refusal that only the operator can apply; undefined if the caller is
   * the operator.
   */
  readonly notifyOperator?: ((line: string) => void) | undefined;
}

/** Returns a prompt version that can be run, with its definition and model. @throws {Refusal} */
export async function requireRunnable(services: RequestCheckServices, promptVersionId: string) {
  const { definitions, models, notifyOperator } = services;
  const version = await definitions.findRunnable(promptVersionId.toLowerCase());
  if (!version) throw notFound('the prompt version does not exist, or is not published');

  const definition = await definitions.getByVersionId(version.id);
  const model = models.get(definition.model);
  if (!model) {
    notifyOperator?.(`a run was refused: ${models.explainMissing(definition.model)}`);
    const reason = models.explainMissing(definition.model, {
      includesRemedy: notifyOperator === undefined,
    });
    throw invalidRequest(`the prompt can't be run here: ${reason}`);
  }

  return { version, definition, model };
}

/** @throws {Refusal} if the model can't be asked, for example because its key is not set */
export function requireAccess(
  { models, notifyOperator }: Pick<RequestCheckServices, 'models' | 'notifyOperator'>,
  model: ModelEntry,
): void {
  const fault = models.findAccessFault(model);
  if (!fault) return;

  if (notifyOperator) {
    notifyOperator(`a run was refused: ${fault.message}`);
    const message = `the model ${model.model} can't be used here: the service has no access to ${model.provider?.name}`;
    throw fault.kind === 'missing' ? new Refusal('NO_ACCESS', message) : invalidRequest(message);
  }

  throw fault.kind === 'missing'
    ? new Refusal('NO_ACCESS', fault.message)
    : invalidRequest(fault.message);
}

/** The prompt and model against which the inputs of a creation are checked. */
interface InputRules {
  definition: PromptDefinition;
  model: ModelEntry;
  userId: number;
  /** True to accept run options that the model does not list; see `checkRunOptions`. */
  allowsUnlistedOptions: boolean;
}

/**
 * Returns the inputs that the prompt and its model accept.
 *
 * @throws {Refusal} that names the field and the broken rule
 */
export async function checkRequestInputs(
  { tasks }: Pick<RequestCheckServices, 'tasks'>,
  { inputs, runOptions = {} }: CreateRunRequest,
  { definition, model, userId, allowsUnlistedOptions }: InputRules,
) {
  const { textInputs: texts = {}, imageInputs = [] } = inputs;
  const { textInputs, input } = definition;
  try {
    await tasks.run('readTexts', { definition: { textInputs, input }, texts }, { userId });
  } catch (error) {
    if (error instanceof InvalidInputsError || error instanceof LimitExceededError) {
      throw invalidRequest(error.message);
    }
    throw error;
  }

  // Unknown keys are ignored.
  const keys = textInputs.map(({ key }) => key).filter(key => Object.hasOwn(texts, key));
  return {
    textInputs: Object.fromEntries(keys.map(key => [key, texts[key] ?? ''])),
    images: checkImages(imageInputs, definition, model),
    runOptions: checkRunOptions(runOptions, model, allowsUnlistedOptions),
  };
}

function checkImages(
  images: ImageInput[],
  { imageInputs }: PromptDefinition,
  { model, declaration }: ModelEntry,
): ImageInput[] {
  if (images.length > 0 && declaration && !usesPlaceholder(declaration, 'images')) {
    const place = declaration.kind === 'program' ? 'program' : 'body';
    throw invalidRequest(
      `the model ${model} takes no pictures: its \`${place}\` has no \${images}`,
    );
  }

  const expectedCount = imageInputs.length;
  if (images.length === expectedCount) return images;

  const expectedImages = expectedCount === 1 ? '1 image' : `${expectedCount} images`;
  throw invalidRequest(`inputs.imageInputs must hold ${expectedImages}, not ${images.length}`);
}

/**
 * Returns run options that a model accepts.
 *
 * @param allowsUnlistedOptions true to accept others too if the model has an endpoint, which then
 * refuses what it doesn't know. The embedded service does so, because commands check the options
 * themselves, unless `--no-validate` is given
 * @throws {Refusal} that names what the model accepts
 */
export function checkRunOptions(
  settings: Record<string, string>,
  { model, provider, declaration, runOptions }: ModelEntry,
  allowsUnlistedOptions = false,
): Record<string, string> {
  const hasEndpoint = provider !== undefined || declaration !== undefined;
  const knownOptions = [
    ...runOptions.map(option => option.key),
    ...(hasEndpoint ? PROVIDER_SETTINGS : []),
  ];
  for (const [key, value] of Object.entries(settings)) {
    const option = runOptions.find(option => option.key === key);

    // Only the endpoint knows which options it takes.
    if (!option && hasEndpoint && PROVIDER_SETTINGS.has(key)) {
      const fault = findOptionFault(key, value);
      if (fault === undefined) continue;
      throw invalidRequest(`runOptions.${key} ${fault}`);
    }

    if (hasEndpoint && allowsUnlistedOptions) continue;

    if (!option) {
      throw invalidRequest(
        `runOptions.${key} is not a run option of the model ${model}${listAcceptedOptions(key, knownOptions)}`,
      );
    }

    if (!option.options.includes(value)) {
      throw invalidRequest(`runOptions.${key} must be one of ${option.options.join(', ')}`);
    }
  }

  return settings;
}

function listAcceptedOptions(key: string, knownOptions: readonly string[]): string {
  if (knownOptions.length === 0) return ', which has none';
  return `: it has ${[...new Set(knownOptions)].join(', ')}${didYouMean(key, knownOptions)}`;
}

/**
 * Returns the prompt's `config`, overridden by the run options. They arrive as text, and get the
 * types that they would have in `config`.
 */
export function mergeSettings(
  { config }: Pick<PromptDefinition, 'config'>,
  runOptions: Readonly<Record<string, string>>,
  { provider }: Pick<ModelEntry, 'provider'>,
): Readonly<Record<string, unknown>> {
  if (!provider) return { ...config, ...runOptions };
  const typedEntries = Object.entries(runOptions).map(([key, value]): [string, unknown] => [
    key,
    PROVIDER_SETTINGS.has(key) ? value : (parseJson(value) ?? value),
  ]);
  return { ...config, ...Object.fromEntries(typedEntries) };
}
