import { formatDollars, toMoney } from '../../../wire/money.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { GridTotal } from '../../outputs/html/grid.ts';
import type { Budget } from './budget.ts';
import { formatCredits, fromCredits, toCredits } from './credits.ts';
import { hasPaidCredits, type Totals } from './totals.ts';

type SpentBudget = Pick<
  Budget,
  'computeTotals' | 'newRuns' | 'isReplay' | 'hasEarlierRuns' | 'hasCreditCap'
>;

/**
 * Returns the spending for the last lines of a command; if an earlier invocation made runs, first
 * of the new runs, then of all.
 *
 * @param noun the things that the command runs, such as `rows`
 */
export function formatSpentLines(budget: SpentBudget, noun: string): string[] {
  const totals = budget.computeTotals();
  if (budget.isReplay) {
    return totals.runs === 0 ? [] : [`the ${noun} were answered from recordings`];
  }

  const { hasCreditCap } = budget;
  const lines = formatSpendingTotals(totals, { hasCreditCap });
  if (!budget.hasEarlierRuns) return lines;

  const newTotals = budget.computeTotals(budget.newRuns.map(({ runId }) => runId));
  const newLines =
    newTotals.runs === 0 ? ['no run was made'] : formatSpendingTotals(newTotals, { hasCreditCap });
  return [...prefixLines('now: ', newLines), ...prefixLines('in all: ', lines)];
}

function prefixLines(prefix: string, [first, ...more]: readonly string[]): string[] {
  return first === undefined ? [] : [`${prefix}${first}`, ...more];
}

/**
 * Returns the spending of runs as lines: one for all runs, and one for each known model.
 *
 * @param options `hasCreditCap`: true under a cap on credits, which counts those of the embedded
 * service too
 */
export function formatSpendingTotals(totals: Totals, { hasCreditCap = false } = {}): string[] {
  const { runs, models } = totals;
  if (runs === 0) return [];

  const shownTotals = hasCreditCap ? totals : withoutEmbeddedCredits(totals);
  const withCredits = hasCreditCap || hasPaidCredits(totals);
  const amounts = formatAmounts(shownTotals, { hasEmbeddedRuns: models.length > 0, withCredits });

  return [
    `${pluralize(runs, 'run')} took ${[formatUsedTokens(totals), ...amounts].join(', ')}`,
    ...models.map(model => formatModelLine(model, { withCredits: hasCreditCap })),
  ];
}

function formatUsedTokens({ runs, tokens, tokensUnknown }: Totals): string {
  if (tokensUnknown === runs) return 'an unknown number of tokens';
  return `${pluralize(tokens, 'token')}${formatUnknownCount(tokensUnknown)}`;
}

function formatModelLine(
  { model, tokens, ...amounts }: Totals['models'][number],
  { withCredits }: { readonly withCredits: boolean },
): string {
  const tokenTexts =
    tokens === null
      ? []
      : [`${pluralize(tokens.input, 'token')} in (${tokens.cached} cached), ${tokens.output} out`];
  const amountTexts = formatAmounts(amounts, { hasEmbeddedRuns: true, withCredits });
  return `  ${model}: ${[...tokenTexts, ...amountTexts].join(', ')}`;
}

type Amounts = Pick<Totals, 'credits' | 'creditsUnknown' | 'cost' | 'costUnknown' | 'estimated'>;

/**
 * Leaves out the credits of the embedded service, which cost nothing, and the dollars of runs that
 * took credits.
 */
function withoutEmbeddedCredits({ runs, models, ...amounts }: Totals): Amounts {
  const embeddedTotals = { runs: 0, credits: 0, creditsUnknown: 0 };
  for (const modelTotals of models) {
    embeddedTotals.runs += modelTotals.runs;
    embeddedTotals.credits += toCredits(modelTotals.credits ?? 0);
    embeddedTotals.creditsUnknown += modelTotals.creditsUnknown;
  }

  const creditsUnknown = amounts.creditsUnknown - embeddedTotals.creditsUnknown;
  const paidRunCount = runs - embeddedTotals.runs - creditsUnknown;
  const paidCredits =
    amounts.credits === null || paidRunCount === 0
      ? null
      : fromCredits(toCredits(amounts.credits) - embeddedTotals.credits);

  return {
    ...amounts,
    credits: paidCredits,
    creditsUnknown,
    costUnknown: amounts.costUnknown - paidRunCount,
  };
}

/** @param hasEmbeddedRuns true if the embedded service, which knows costs, made some runs */
function formatAmounts(
  { credits, creditsUnknown, cost, costUnknown, estimated }: Amounts,
  {
    hasEmbeddedRuns,
    withCredits,
  }: { readonly hasEmbeddedRuns: boolean; readonly withCredits: boolean },
): string[] {
  const texts: string[] = [];
  if (withCredits && credits !== null) {
    texts.push(`${formatCredits(toCredits(credits))}${formatUnknownCount(creditsUnknown)}`);
  }

  if (cost !== null) {
    texts.push(`${formatSpentDollars(cost, { estimated })}${formatUnknownCount(costUnknown)}`);
  }

  if (withCredits && credits === null && creditsUnknown > 0) texts.push('credits unknown');
  if (hasEmbeddedRuns && cost === null) texts.push('cost unknown');
  return texts;
}

function formatUnknownCount(runCount: number): string {
  return runCount === 0 ? '' : ` (unknown for ${runCount})`;
}

function formatSpentDollars(dollars: number, { estimated }: Pick<Totals, 'estimated'>): string {
  return `${formatDollars(toMoney(dollars))}${estimated ? ' estimated' : ''}`;
}

/** Returns the spending of runs as totals of a grid's column. */
export function formatSpentTotals(
  { tokens, credits, cost, estimated }: Totals,
  { withCredits }: { readonly withCredits: boolean },
): GridTotal[] {
  const totals = [{ name: 'tokens', value: String(tokens) }];
  if (withCredits) totals.push({ name: 'credits', value: String(credits ?? '–') });
  totals.push({
    name: 'cost',
    value: cost === null ? '–' : formatSpentDollars(cost, { estimated }),
  });
  return totals;
}

/**
 * Returns the spending of runs as names and values, for report formats without their own form for
 * it.
 */
export function formatSpentProperties({
  models,
  ...totals
}: Totals): (readonly [name: string, value: string])[] {
  const properties = Object.entries(totals).map(([name, value]) => formatProperty(name, value));
  for (const { model, tokens, ...sums } of models) {
    // An offline model counts no tokens.
    const tokenCounts =
      tokens === null ? {} : { inputTokens: tokens.input, outputTokens: tokens.output };
    for (const [name, value] of Object.entries({ ...sums, ...tokenCounts })) {
      properties.push(formatProperty(`${model} ${name}`, value));
    }
  }
  return properties;
}

function formatProperty(
  name: string,
  value: string | number | boolean | null | undefined,
): readonly [name: string, value: string] {
  return [name, String(value ?? 'unknown')];
}
