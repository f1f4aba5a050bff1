import { withoutUndefined } from '../../files/formats/json.ts';
import {
  findUnknownMultiplier,
  getAnswerCount,
  parseWholeNumber,
} from '../../models/catalogue/answer-count.ts';
import type { ModelTable } from '../../models/catalogue/model-table.ts';
import {
  findPricing,
  PRICE_TABLE_DATE,
  type PricingOptions,
} from '../../models/catalogue/prices.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import type { TemplateMessage } from '../../prompts/template/template-messages.ts';
import type { CreateRunRequest, Modality } from '../../wire/index.ts';
import type { Money } from '../../wire/money.ts';
import type { Definitions } from '../prompts/definitions.ts';
import type { Store } from '../store/store.ts';
import { checkRequestInputs, mergeSettings, requireRunnable } from './run-request.ts';

/** Estimated tokens of an answer if the prompt sets no limit. */
const EXPECTED_OUTPUT_TOKENS = 1000;

/** Estimated length of a token in a prompt. */
const CHARACTERS_PER_TOKEN = 4;

/** A creation, which may be a request of a provider's batch. */
export type EstimatedCreation = CreateRunRequest & Pick<PricingOptions, 'providerBatch'>;

/** The estimated cost of a run. */
export interface CostEstimate {
  readonly model: string;
  readonly modality: Modality;
  /** null if the price of the model is unknown. */
  readonly cost: Money | null;
  /** True if the cost of a run is known only from its answer. */
  readonly learns?: true;
  /** The requested price class, if the model has a price but none for that class. */
  readonly unpricedTier?: unknown;
  /** The cost of the prompt's own tokens, the least that the run costs. */
  readonly promptCost: Money | null;
  /** The number of requested answers; costs are compared per answer. */
  readonly answers: number;
  /** An option that multiplies the cost by an unknown number. */
  readonly multiplier?: string;
  readonly tokens: { readonly input: number; readonly output: number };
  /** The tokens that each answer is estimated at, if the prompt sets no limit. */
  readonly assumedOutput?: number;
  readonly images: number;
  /** True if the price comes from the bundled price table. */
  readonly estimated: boolean;
  readonly tableDate?: string;
}

/** The parts of the service that an estimate needs. */
export interface EstimateSources {
  readonly store: Store;
  readonly userId: number;
  readonly definitions: Definitions;
  readonly models: ModelTable;
  readonly tasks: PromptTasks;
}

/**
 * Estimates the cost of a creation. Creates nothing and asks no provider.
 *
 * @throws {Refusal} as the creation would
 */
export async function estimateCost(
  { store, userId, definitions, models, tasks }: EstimateSources,
  { providerBatch, ...body }: EstimatedCreation,
): Promise<CostEstimate> {
  const services = { store, definitions, models, tasks };
  const { definition, model } = await requireRunnable(services, body.promptVersionId);
  const requestInputs = await checkRequestInputs(services, body, {
    definition,
    model,
    userId,
    allowsUnlistedOptions: true,
  });

  const { textInputs, images: imageInputs, runOptions } = requestInputs;
  const imageDescriptions = imageInputs.map(() => 'a picture');
  const messages = await tasks.run(
    'render',
    { definition, textInputs, imageDescriptions },
    { userId },
  );

  const options = mergeSettings(definition, runOptions, model);
  const answers = getAnswerCount(options);
  const outputLimit = parseWholeNumber(options['maxOutputTokens']);
  const input = Math.ceil(countCharacters(messages) / CHARACTERS_PER_TOKEN);
  const output = (outputLimit ?? EXPECTED_OUTPUT_TOKENS) * answers;
  const images = model.modality === 'image' ? answers : 0;

  const pricing = await findPricing(model, { providerBatch, runOptions: options });
  const hasOtherPrice = pricing === undefined && (await findPricing(model)) !== undefined;

  return withoutUndefined({
    model: model.model,
    modality: model.modality,
    cost: pricing?.computeCost({ input, output, cached: 0 }, images) ?? null,
    learns:
      pricing === undefined && model.declaration?.cost !== undefined ? (true as const) : undefined,
    unpricedTier: hasOtherPrice ? options['serviceTier'] : undefined,
    promptCost: pricing?.computeCost({ input, output: 0, cached: 0 }, 0) ?? null,
    answers,
    multiplier: findUnknownMultiplier(options),
    tokens: { input, output },
    assumedOutput: outputLimit === undefined ? EXPECTED_OUTPUT_TOKENS : undefined,
    images,
    estimated: pricing?.isEstimate ?? false,
    tableDate: pricing?.isEstimate ? PRICE_TABLE_DATE : undefined,
  });
}

function countCharacters(messages: readonly TemplateMessage[]): number {
  const texts = messages.flatMap(({ content }) =>
    content.map(part => ('text' in part ? part.text : '')),
  );
  return texts.reduce((sum, { length }) => sum + length, 0);
}
