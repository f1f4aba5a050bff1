import { text as textOf } from 'node:stream/consumers';
import type { CostEstimate } from '../../service/runs/costs.ts';
import { dollars, formatDollars, type Money } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { toCliError } from '../core/failure.ts';
import { configError } from '../errors.ts';
import { creditsIn, creditsText, inCredits } from './caps.ts';
import type { CreationRequest } from './creation.ts';
import { addUp } from './spending.ts';

/**
 * What a creation is expected to cost; undefined for another service than this machine's own. Asks no provider.
 *
 * @throws {CliError} with what the creation would be refused with
 */
export async function estimateCost(
  { costs }: Connection,
  { body }: CreationRequest,
  providerBatch = false,
): Promise<CostEstimate | undefined> {
  if (costs === undefined) return undefined;
  const creation = JSON.parse(await textOf(body.chunks())) as Parameters<typeof costs.estimate>[0];
  return costs.estimate({ ...creation, providerBatch }).catch((error: unknown) => {
    throw toCliError(error);
  });
}

/** An estimate of a cost that is known. */
export type KnownCost = CostEstimate & { readonly cost: Money };

/** The same with a cost. @throws {CliError} CONFIG_ERROR for a model without a price, or a cost that can't be bounded */
export async function knownCost(
  ...creation: Parameters<typeof estimateCost>
): Promise<KnownCost | undefined> {
  const estimate = await estimateCost(...creation);
  if (estimate === undefined) return undefined;
  const { model, cost, multiplier } = estimate;
  if (cost !== 0 && multiplier !== undefined) {
    throw configError(
      `the option ${multiplier} multiplies what a run costs by a number that is not known, so --max-cost can't hold`,
      'Take it out of the config of the prompt. To ask for several answers, give n as a whole number.',
    );
  }
  if (cost !== null) return { ...estimate, cost };
  throw configError(
    `the price of the model ${model} is not known, so --max-cost can't hold`,
    'Name it in models.yaml: price: {input: <dollars a million tokens>, output: <dollars a million tokens>}',
  );
}

/** What creations are expected to come to, for `--dry-run`. */
export class Forecast {
  #creations = 0;
  readonly #costs: (CostEstimate | undefined)[] = [];
  readonly #credits: (number | undefined)[] = [];

  /** @param listed what the service's search says that a run is expected to take */
  async add(
    connection: Connection,
    request: CreationRequest,
    listed: unknown,
    providerBatch = false,
  ): Promise<void> {
    this.#creations += 1;
    this.#credits.push(creditsIn(listed));
    // What it would be refused with is told elsewhere.
    this.#costs.push(await estimateCost(connection, request, providerBatch).catch(() => undefined));
  }

  /** As data: amounts in US dollars and credits, null if they are not known. */
  data(): object {
    const { cost, credits, tableDate } = this.#sums();
    return {
      creations: this.#creations,
      estimate: {
        credits: credits === undefined ? null : inCredits(credits),
        cost: cost === undefined ? null : dollars(cost),
        estimated: tableDate !== undefined,
        pricesOf: tableDate ?? null,
      },
    };
  }

  /** In words, on one line. */
  text(): string {
    const { cost, credits, tableDate } = this.#sums();
    const prices = tableDate === undefined ? '' : ` (estimated, by prices of ${tableDate})`;
    const amounts = [
      ...(credits === undefined ? [] : [creditsText(credits)]),
      ...(cost === undefined ? [] : [`${formatDollars(cost)}${prices}`]),
    ];
    const what = amounts.length === 0 ? 'what they would cost is not known' : `about ${amounts.join(', ')}`;
    return `${this.#creations} ${this.#creations === 1 ? 'creation' : 'creations'}: ${what}`;
  }

  #sums(): { cost: number | undefined; credits: number | undefined; tableDate: string | undefined } {
    return {
      cost: addUp(this.#costs.map(estimate => estimate?.cost ?? undefined)),
      credits: addUp(this.#credits),
      tableDate: this.#costs.find(estimate => estimate?.tableDate !== undefined)?.tableDate,
    };
  }
}
