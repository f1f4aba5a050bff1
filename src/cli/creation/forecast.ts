import { text as textOfStream } from 'node:stream/consumers';
import type { CostEstimate } from '../../service/runs/cost-estimate.ts';
import { formatDollars, type Money, toDollars } from '../../wire/money.ts';
import type { Connection } from '../context.ts';
import { configError } from '../core/errors.ts';
import { toCliError } from '../core/failure.ts';
import { type Caps, type Credits, creditsIn, creditsText, inCredits } from './caps.ts';
import type { CreationRequest } from './creation-result.ts';
import { addUp } from './totals.ts';

/**
 * Estimates the cost of a creation; undefined on a service other than this machine's own. Sends nothing to a provider.
 *
 * @throws {CliError} the error that the creation would end with
 */
export async function forecastCost(
  { costs }: Connection,
  { body }: CreationRequest,
  { providerBatch = false } = {},
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
  ...creation: Parameters<typeof forecastCost>
): Promise<KnownCost | undefined> {
  const estimate = await forecastCost(...creation);
  if (estimate === undefined) return undefined;
  const { model, cost, learns, multiplier, unpricedTier } = estimate;
  if (cost !== 0 && multiplier !== undefined) {
    throw configError(
      `the option ${multiplier} multiplies the cost of a run by an unknown number, so --max-cost can't be enforced`,
      "Remove it from the prompt's config. To ask for several answers, set n to a whole number.",
    );
  }
  if (cost !== null || learns) return { ...estimate, cost: cost ?? undefined };
  if (unpricedTier !== undefined) {
    throw configError(
      `the price of the model ${model} with serviceTier ${JSON.stringify(unpricedTier)} is not known, so --max-cost can't be enforced`,
      'Leave out the option serviceTier, or --max-cost.',
    );
  }
  throw configError(
    `the price of the model ${model} is not known, so --max-cost can't be enforced`,
    'Set it in models.yaml or the file of --models: price: {input: <dollars a million tokens>, output: <dollars a million tokens>}, or price: {run: <dollars>} for a program or a URL',
  );
}

interface ForecastOptions {
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
  /** True for a request in a provider's batch, at its lower price. Default false. */
  readonly providerBatch?: boolean;
}

/** The estimated total of creations, for `--dry-run`. */
export class Forecast {
  #creations = 0;
  readonly #forecasts: {
    readonly estimate: CostEstimate | undefined;
    readonly credits: Credits | undefined;
    /** True if it is for the embedded service, whose runs cost dollars instead of credits. */
    readonly isHere: boolean;
  }[] = [];

  /** Counts a creation. @throws {CliError} if the embedded service would refuse it */
  async add(
    connection: Connection,
    request: CreationRequest,
    { estimatedCredits, ...options }: ForecastOptions,
  ): Promise<void> {
    const estimate = await forecastCost(connection, request, options);
    this.#creations += 1;
    this.#forecasts.push({
      estimate,
      credits: creditsIn(estimatedCredits),
      isHere: connection.costs !== undefined,
    });
  }

  /** Returns amounts in US dollars and credits, null if unknown. */
  data(): object {
    const { cost, credits, tableDate } = this.#sums();
    return {
      creations: this.#creations,
      estimate: {
        credits: credits === undefined ? null : inCredits(credits),
        cost: cost === undefined ? null : toDollars(cost),
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
    const { tableDate } = this.#sums();
    const inDollars = this.#forecasts.filter(({ isHere }) => isHere);
    const takingCredits = this.#forecasts.filter(({ isHere }) => !isHere || caps.credits !== undefined);
    const cost = totalCost(inDollars);
    const credits = addUp(takingCredits.map(own => own.credits));
    const assumptions = [
      ...(tableDate === undefined ? [] : [`prices of ${tableDate}`]),
      ...inDollars.flatMap(assumedTokens).slice(0, 1),
    ];
    const basis = assumptions.length === 0 ? '' : ` (estimated, with ${assumptions.join(' and ')})`;
    const amounts = [
      ...(credits === undefined || takingCredits.length === 0 ? [] : [creditsText(credits)]),
      ...(cost === undefined || inDollars.length === 0 ? [] : [`${formatDollars(cost)}${basis}`]),
    ];
    const isMixed = inDollars.length > 0 && takingCredits.length > 0;
    const unknown =
      isMixed && amounts.length === 1 ? `, ${cost === undefined ? 'dollars' : 'credits'} unknown` : '';
    if (this.#creations === 0) return '0 creations: nothing to pay for';
    const total = amounts.length === 0 ? 'cost unknown' : `about ${amounts.join(', ')}${unknown}`;
    const exceededFlags = [
      ...(exceeds(cost, caps.cost) ? ['--max-cost'] : []),
      ...(exceeds(credits, caps.credits) ? ['--max-credits'] : []),
    ];
    const excess = exceededFlags.length === 0 ? '' : `, more than ${exceededFlags.join(' and ')} allows`;
    return `${this.#creations} ${this.#creations === 1 ? 'creation' : 'creations'}: ${total}${excess}`;
  }

  #sums(): { cost: number | undefined; credits: number | undefined; tableDate: string | undefined } {
    return {
      cost: totalCost(this.#forecasts),
      credits: addUp(this.#forecasts.map(own => own.credits)),
      tableDate: this.#forecasts.find(({ estimate }) => estimate?.tableDate !== undefined)?.estimate
        ?.tableDate,
    };
  }
}

/** Returns the number of tokens that an answer is assumed to have, in words, if the cost depends on it. */
function assumedTokens({ estimate }: { readonly estimate: CostEstimate | undefined }): string[] {
  if (estimate?.assumedOutput === undefined || estimate.modality === 'image' || !estimate.cost) return [];
  return [`${estimate.assumedOutput.toLocaleString('en')} tokens for each answer`];
}

function exceeds(amount: number | undefined, cap: number | undefined): boolean {
  return amount !== undefined && cap !== undefined && amount > cap;
}

function totalCost(
  forecasts: readonly { readonly estimate: CostEstimate | undefined }[],
): number | undefined {
  return addUp(forecasts.map(({ estimate }) => estimate?.cost ?? undefined));
}
