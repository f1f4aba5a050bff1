import { text as textOfStream } from 'node:stream/consumers';
import type { CostEstimate } from '../../service/runs/costs.ts';
import { dollars, formatDollars, type Money } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { toCliError } from '../core/failure.ts';
import { configError } from '../errors.ts';
import { type Caps, type Credits, creditsIn, creditsText, inCredits } from './caps.ts';
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
  const creation = JSON.parse(await textOfStream(body.chunks())) as Parameters<typeof costs.estimate>[0];
  return costs.estimate({ ...creation, providerBatch }).catch((error: unknown) => {
    throw toCliError(error);
  });
}

/** An estimate of a cost that is known, or that the first run tells. */
export type KnownCost = Omit<CostEstimate, 'cost'> & { readonly cost: Money | undefined };

/** The same with a cost, unless the first run tells it. @throws {CliError} CONFIG_ERROR for a model without a price, or a cost that can't be bounded */
export async function knownCost(
  ...creation: Parameters<typeof estimateCost>
): Promise<KnownCost | undefined> {
  const estimate = await estimateCost(...creation);
  if (estimate === undefined) return undefined;
  const { model, cost, learns, multiplier } = estimate;
  if (cost !== 0 && multiplier !== undefined) {
    throw configError(
      `the option ${multiplier} multiplies what a run costs by a number that is not known, so --max-cost can't hold`,
      'Take it out of the config of the prompt. To ask for several answers, give n as a whole number.',
    );
  }
  if (cost !== null || learns) return { ...estimate, cost: cost ?? undefined };
  throw configError(
    `the price of the model ${model} is not known, so --max-cost can't hold`,
    'Name it in models.yaml: price: {input: <dollars a million tokens>, output: <dollars a million tokens>}, or price: {run: <dollars>} for a program or an address',
  );
}

/** What creations are expected to come to, for `--dry-run`. */
export class Forecast {
  #creations = 0;
  readonly #costs: (CostEstimate | undefined)[] = [];
  readonly #credits: { readonly amount: Credits | undefined; readonly isHere: boolean }[] = [];

  /** Counts a creation, whatever it would be refused with. @param listed what the service's search says that it takes */
  async add(
    connection: Connection,
    request: CreationRequest,
    listed: unknown,
    providerBatch = false,
  ): Promise<void> {
    const estimate = await estimateCost(connection, request, providerBatch).catch(() => undefined);
    this.#count(connection, estimate, listed);
  }

  /** Counts a creation. @throws {CliError} with what this machine's own service would refuse it with */
  async addChecked(
    connection: Connection,
    request: CreationRequest,
    listed: unknown,
    providerBatch: boolean,
  ): Promise<void> {
    this.#count(connection, await estimateCost(connection, request, providerBatch), listed);
  }

  #count(connection: Connection, estimate: CostEstimate | undefined, listed: unknown): void {
    this.#creations += 1;
    this.#credits.push({ amount: creditsIn(listed), isHere: connection.costs !== undefined });
    this.#costs.push(estimate);
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

  /**
   * In words, on one line.
   *
   * @param caps a cap on credits asks for those of this machine's own service, which are nobody's money
   */
  text(caps: Caps): string {
    const { cost, tableDate } = this.#sums();
    const asked = this.#credits.filter(({ isHere }) => !isHere || caps.credits !== undefined);
    const credits = addUp(asked.map(({ amount }) => amount));
    const prices = tableDate === undefined ? '' : ` (estimated, by prices of ${tableDate})`;
    const amounts = [
      ...(credits === undefined || asked.length === 0 ? [] : [creditsText(credits)]),
      ...(cost === undefined ? [] : [`${formatDollars(cost)}${prices}`]),
    ];
    const what = amounts.length === 0 ? 'what they would cost is not known' : `about ${amounts.join(', ')}`;
    return `${this.#creations} ${this.#creations === 1 ? 'creation' : 'creations'}: ${what}`;
  }

  #sums(): { cost: number | undefined; credits: number | undefined; tableDate: string | undefined } {
    return {
      cost: addUp(this.#costs.map(estimate => estimate?.cost ?? undefined)),
      credits: addUp(this.#credits.map(({ amount }) => amount)),
      tableDate: this.#costs.find(estimate => estimate?.tableDate !== undefined)?.tableDate,
    };
  }
}
