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
 * Estimates the cost of a creation; undefined on a service other than this machine's own. Sends nothing to a provider.
 *
 * @throws {CliError} the error that the creation would end with
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

/** An estimate with a cost; undefined if only the first run shows the cost. */
export type KnownCost = Omit<CostEstimate, 'cost'> & { readonly cost: Money | undefined };

/** Estimates a cost for `--max-cost`. @throws {CliError} CONFIG_ERROR if the model has no price, or the cost has no upper bound */
export async function knownCost(
  ...creation: Parameters<typeof estimateCost>
): Promise<KnownCost | undefined> {
  const estimate = await estimateCost(...creation);
  if (estimate === undefined) return undefined;
  const { model, cost, learns, multiplier, unpricedTier } = estimate;
  if (cost !== 0 && multiplier !== undefined) {
    throw configError(
      `the option ${multiplier} multiplies the cost of a run by an unknown number, so --max-cost can't be kept`,
      "Remove it from the prompt's config. To ask for several answers, set n to a whole number.",
    );
  }
  if (cost !== null || learns) return { ...estimate, cost: cost ?? undefined };
  if (unpricedTier !== undefined) {
    throw configError(
      `the price of the model ${model} with serviceTier ${JSON.stringify(unpricedTier)} is not known, so --max-cost can't be kept`,
      'Leave out the option serviceTier, or --max-cost.',
    );
  }
  throw configError(
    `the price of the model ${model} is not known, so --max-cost can't be kept`,
    'Set it in models.yaml: price: {input: <dollars a million tokens>, output: <dollars a million tokens>}, or price: {run: <dollars>} for a program or a URL',
  );
}

/** The estimated total of creations, for `--dry-run`. */
export class Forecast {
  #creations = 0;
  readonly #costs: (CostEstimate | undefined)[] = [];
  readonly #credits: { readonly amount: Credits | undefined; readonly isHere: boolean }[] = [];

  /** Counts a creation, even if the service would refuse it. @param listed the estimate in the service's search results */
  async add(
    connection: Connection,
    request: CreationRequest,
    listed: unknown,
    providerBatch = false,
  ): Promise<void> {
    const estimate = await estimateCost(connection, request, providerBatch).catch(() => undefined);
    this.#count(connection, estimate, listed);
  }

  /** Counts a creation. @throws {CliError} if the embedded service would refuse it */
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

  /** Returns amounts in US dollars and credits, null if unknown. */
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
   * Returns the forecast as one line of text.
   *
   * @param caps a cap on credits includes those of the embedded service, which cost nothing
   */
  text(caps: Caps): string {
    const { cost, tableDate } = this.#sums();
    const shown = this.#credits.filter(({ isHere }) => !isHere || caps.credits !== undefined);
    const credits = addUp(shown.map(({ amount }) => amount));
    const prices = tableDate === undefined ? '' : ` (estimated, with prices of ${tableDate})`;
    const amounts = [
      ...(credits === undefined || shown.length === 0 ? [] : [creditsText(credits)]),
      ...(cost === undefined ? [] : [`${formatDollars(cost)}${prices}`]),
    ];
    const total = amounts.length === 0 ? 'cost unknown' : `about ${amounts.join(', ')}`;
    return `${this.#creations} ${this.#creations === 1 ? 'creation' : 'creations'}: ${total}`;
  }

  #sums(): { cost: number | undefined; credits: number | undefined; tableDate: string | undefined } {
    return {
      cost: addUp(this.#costs.map(estimate => estimate?.cost ?? undefined)),
      credits: addUp(this.#credits.map(({ amount }) => amount)),
      tableDate: this.#costs.find(estimate => estimate?.tableDate !== undefined)?.tableDate,
    };
  }
}
