import { answersOf, unknownMultiplier, wholeNumber } from '../../models/catalogue/answers.ts';
import { PRICE_TABLE_DATE, type PricingOptions, pricingOf } from '../../models/catalogue/prices.ts';
import type { ModelTable } from '../../models/catalogue/table.ts';
import { BUILT_IN_MODELS } from '../../models/entry.ts';
import type { AccessFault } from '../../models/providers/providers.ts';
import type { PromptTasks } from '../../prompts/tasks/prompt-tasks.ts';
import type { Message } from '../../prompts/template/messages.ts';
import type { CreateRunRequest } from '../../wire/index.ts';
import { dollars, type Money } from '../../wire/money.ts';
import type { Definitions } from '../prompts/definitions.ts';
import type { UsedRun } from '../store/runs-store.ts';
import type { Store } from '../store/store.ts';
import { checkInputs, requireRunnable } from './run-request.ts';

interface Tokens {
  /** Of the prompt, cached ones among them. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** What an ended run cost. */
export interface RunCost {
  readonly model: string;
  /** 0 for a free run. */
  readonly credits: number;
  /** null if its provider did not count, or it has none. */
  readonly tokens: Tokens | null;
  /** null if nobody knows. */
  readonly cost: Money | null;
  /** Whether the cost comes from the kept table of prices. */
  readonly estimated: boolean;
  /** How many answers it asked for. */
  readonly answers: number;
}

/** What runs of this machine's own service cost. */
export type Costs = ReturnType<typeof createCosts>;
/** What a run is expected to cost. */
export type CostEstimate = Awaited<ReturnType<Costs['estimate']>>;

export interface CostsOptions {
  readonly store: Store;
  readonly userId: number;
  readonly definitions: Definitions;
  readonly models: ModelTable;
  readonly tasks: PromptTasks;
}

const PAGE = 500;
/** What a model is expected to write if the prompt sets no limit, in tokens. */
const EXPECTED_OUTPUT = 1000;
const CHARACTERS_A_TOKEN = 4;

export function createCosts({ store, userId, definitions, models, tasks }: CostsOptions) {
  return {
    /** When the kept table of prices was published, as 2026-11-30. */
    tableDate: PRICE_TABLE_DATE,
    /** Why the model of a version can't be asked as things stand; undefined if it can, or its creation says why not. */
    async accessFault(promptVersionId: string): Promise<AccessFault | undefined> {
      const version = await store.prompts.runnable(promptVersionId.toLowerCase());
      const model = version && models.get((await definitions.ofRun(version.id)).model);
      return model && models.accessFault(model);
    },
    /** By run id; a run that has not ended is not in it. */
    async of(runIds: readonly string[]): Promise<ReadonlyMap<string, RunCost>> {
      const ended = new Map<string, RunCost>();
      for (let start = 0; start < runIds.length; start += PAGE) {
        for (const run of await store.runs.usage(userId, runIds.slice(start, start + PAGE))) {
          const cost = costOf(run);
          if (cost) ended.set(run.id, cost);
        }
      }
      return ended;
    },
    /**
     * What a creation is expected to cost. Creates nothing and asks no provider.
     *
     * @throws {Refusal} with what the creation would be refused with
     */
    async estimate({ providerBatch, ...body }: CreateRunRequest & Pick<PricingOptions, 'providerBatch'>) {
      const lookup = { store, definitions, models, tasks };
      const { definition, model } = await requireRunnable(lookup, body.promptVersionId);
      const checked = await checkInputs(lookup, body, { definition, model, userId });
      const { textInputs, images: loaded, runOptions } = checked;
      const pictures = loaded.map(() => 'a picture');
      const messages = await tasks.do('render', { definition, textInputs, pictures }, { userId });
      const options = { ...definition.config, ...runOptions };
      const pricing = await pricingOf(model, { providerBatch, runOptions: options });
      const input = Math.ceil(charactersIn(messages) / CHARACTERS_A_TOKEN);
      const answers = answersOf(options);
      const output = (wholeNumber(options['maxOutputTokens']) ?? EXPECTED_OUTPUT) * answers;
      const images = model.modality === 'image' ? answers : 0;
      const paysPictures = images > 0 && model.price?.image !== undefined;
      const expected = { input, output: paysPictures ? 0 : output, cached: 0 };
      return {
        model: model.model,
        modality: model.modality,
        /** null if the price of the model is unknown. */
        cost: pricing?.cost(expected, images) ?? null,
        /** True if only answers say what a run costs. */
        ...(pricing === undefined && model.declared?.cost !== undefined && { learns: true }),
        /** The part of it that the prompt's own tokens make, which the run costs at least. */
        promptCost: pricing?.cost({ input, output: 0, cached: 0 }, 0) ?? null,
        /** How many answers it asks for; the cost of a run is compared by the answer. */
        answers,
        /** An option that multiplies the cost by a number that the estimate does not know. */
        multiplier: unknownMultiplier(options),
        tokens: { input, output: expected.output },
        images,
        /** Whether the price comes from the kept table. */
        estimated: pricing?.estimated ?? false,
        ...(pricing?.estimated && { tableDate: PRICE_TABLE_DATE }),
      };
    },
  };
}

const BUILT_IN = new Set(BUILT_IN_MODELS.map(({ model }) => model));

/** What a user's runs used, by id, as the list tells it: the cost in US dollars. */
export async function usageOfRuns(store: Store, userId: number, runIds: readonly string[]) {
  const runs = await store.runs.usage(userId, runIds);
  return new Map(
    runs.map(run => {
      const unknown = { model: run.promptModel, tokens: null, cost: null, estimated: false };
      const { model, tokens, cost, estimated } = costOf(run) ?? unknown;
      return [run.id, { model, tokens, cost: cost === null ? null : dollars(cost), estimated }];
    }),
  );
}

/** undefined for a run that has not ended. */
function costOf({ usage, promptModel, status, credits }: UsedRun): RunCost | undefined {
  if (status !== 'succeeded' && status !== 'failed') return undefined;
  if (!usage) {
    const cost = BUILT_IN.has(promptModel) ? 0 : null;
    return { model: promptModel, credits, tokens: null, cost, estimated: false, answers: 1 };
  }
  const { model, input, output, cached, cost, estimated, answers } = usage;
  const tokens = input === null || output === null ? null : { input, output, cached: cached ?? 0 };
  return { model, credits, tokens, cost, estimated: estimated === 1, answers };
}

function charactersIn(messages: readonly Message[]): number {
  const texts = messages.flatMap(({ content }) => content.map(part => ('text' in part ? part.text : '')));
  return texts.reduce((sum, { length }) => sum + length, 0);
}
