import { text as textOfStream } from 'node:stream/consumers';
import type { CostEstimate } from '../../../service/runs/cost-estimate.ts';
import { formatDollars, type Money, toDollars } from '../../../wire/money.ts';
import type { Connection } from '../../context.ts';
import { configError } from '../../core/errors.ts';
import { toCliError } from '../../core/failure.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { CreationRequest } from '../creation-result.ts';
import type { Caps } from './caps.ts';
import { type Credits, formatCredits, fromCredits, parseCredits } from './credits.ts';
import { addUp } from './totals.ts';

/**
 * Estimates the cost of a creation; undefined on a service other than this machine's own. Sends
 * nothing to a provider.
 *
 * @throws {CliError} the error that the creation would end with
 */
export async function forecastCost(
  { costs }: Connection,
  { body }: CreationRequest,
  { providerBatch = false }: { readonly providerBatch?: boolean } = {},
): Promise<CostEstimate | undefined> {
  if (costs === undefined) return undefined;
  const creation = JSON.parse(await textOfStream(body.chunks())) as Parameters<
    typeof costs.estimate
  >[0];
  return costs.estimate({ ...creation, providerBatch }).catch((error: unknown) => {
    throw toCliError(error);
  });
}

/** An estimate that a cap can use; its cost is undefined if only the first run shows it. */
export type CappedEstimate = Omit<CostEstimate, 'cost'> & { readonly cost: Money | undefined };

/**
 * Estimates a cost for `--max-cost`.
 *
 * @throws {CliError} CONFIG_ERROR if the model has no price, or the cost has no upper bound
 */
export async function estimateCappedCost(
  connection: Connection,
  request: CreationRequest,
  options: { readonly providerBatch?: boolean } = {},
): Promise<CappedEstimate | undefined> {
  const estimate = await forecastCost(connection, request, options);
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

/** The forecast of one creation. */
interface CreationForecast {
  readonly estimate: CostEstimate | undefined;
  readonly credits: Credits | undefined;
  /** True if it is for the embedded service, whose runs cost dollars instead of credits. */
  readonly isEmbedded: boolean;
}

/** The estimated total of creations, for `--dry-run`. */
export class Forecast {
  readonly #forecasts: CreationForecast[] = [];

  /**
   * Counts a creation.
   *
   * @throws {CliError} if the embedded service would refuse it
   */
  async add(
    connection: Connection,
    request: CreationRequest,
    { estimatedCredits, ...options }: ForecastOptions,
  ): Promise<void> {
    this.#forecasts.push({
      estimate: await forecastCost(connection, request, options),
      credits: parseCredits(estimatedCredits),
      isEmbedded: connection.costs !== undefined,
    });
  }

  /** Returns amounts in US dollars and credits, null if unknown. */
  toData(): object {
    const cost = sumCosts(this.#forecasts);
    const credits = sumCredits(this.#forecasts);
    const tableDate = this.#findTableDate();

    return {
      creations: this.#forecasts.length,
      estimate: {
        credits: credits === undefined ? null : fromCredits(credits),
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
  format(caps: Caps): string {
    if (this.#forecasts.length === 0) return '0 creations: nothing to pay for';

    const dollarForecasts = this.#forecasts.filter(({ isEmbedded }) => isEmbedded);
    const creditForecasts = this.#forecasts.filter(
      ({ isEmbedded }) => !isEmbedded || caps.credits !== undefined,
    );
    const cost = sumCosts(dollarForecasts);
    const credits = sumCredits(creditForecasts);
    const amounts: string[] = [];
    if (credits !== undefined && creditForecasts.length > 0) amounts.push(formatCredits(credits));

    if (cost !== undefined && dollarForecasts.length > 0) {
      amounts.push(`${formatDollars(cost)}${this.#formatBasis()}`);
    }

    if (amounts.length === 1 && dollarForecasts.length > 0 && creditForecasts.length > 0) {
      amounts.push(`${cost === undefined ? 'dollars' : 'credits'} unknown`);
    }

    const total = amounts.length === 0 ? 'cost unknown' : `about ${amounts.join(', ')}`;
    return `${pluralize(this.#forecasts.length, 'creation')}: ${total}${formatExceededCaps({ cost, credits }, caps)}`;
  }

  /**
   * Returns the assumptions behind an estimate in dollars, in parentheses, or an empty text if
   * there are none.
   */
  #formatBasis(): string {
    const tableDate = this.#findTableDate();
    const [answerLength] = this.#forecasts.flatMap(formatAssumedTokens);
    const assumptions = [
      ...(tableDate === undefined ? [] : [`prices of ${tableDate}`]),
      ...(answerLength === undefined ? [] : [answerLength]),
    ];
    return assumptions.length === 0 ? '' : ` (estimated, with ${assumptions.join(' and ')})`;
  }

  /** Returns the date of the table of prices, if an estimate uses it. */
  #findTableDate(): string | undefined {
    return this.#forecasts.flatMap(({ estimate }) => estimate?.tableDate ?? [])[0];
  }
}

/**
 * Returns the number of tokens that an answer is assumed to have, in words, if the cost depends on
 * it.
 */
function formatAssumedTokens({ estimate }: CreationForecast): string[] {
  if (estimate?.assumedOutput === undefined || estimate.modality === 'image' || !estimate.cost) {
    return [];
  }
  return [`${estimate.assumedOutput.toLocaleString('en')} tokens for each answer`];
}

function sumCosts(forecasts: readonly CreationForecast[]): Money | undefined {
  return addUp(forecasts.map(({ estimate }) => estimate?.cost ?? undefined));
}

function sumCredits(forecasts: readonly CreationForecast[]): Credits | undefined {
  return addUp(forecasts.map(({ credits }) => credits));
}

/** Returns a clause with the caps that the amounts exceed, or an empty text if they exceed none. */
function formatExceededCaps({ cost, credits }: Caps, caps: Caps): string {
  const exceededFlags: string[] = [];
  if (exceedsCap(cost, caps.cost)) exceededFlags.push('--max-cost');
  if (exceedsCap(credits, caps.credits)) exceededFlags.push('--max-credits');
  return exceededFlags.length === 0 ? '' : `, more than ${exceededFlags.join(' and ')} allows`;
}

function exceedsCap(amount: number | undefined, cap: number | undefined): boolean {
  return amount !== undefined && cap !== undefined && amount > cap;
}
