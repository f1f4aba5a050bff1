import { formatDollars, toMoney } from '../../wire/money.ts';
import { pluralize } from '../core/pluralize.ts';
import { credits, creditsText, inCredits } from './caps.ts';
import type { Totals } from './totals.ts';

/** Returns false if the embedded service made all runs, because its credits cost nothing. */
export function hasPaidCredits({ runs, models }: Totals): boolean {
  return models.reduce((sum, own) => sum + own.runs, 0) < runs;
}

/**
 * Returns the spending of runs as text: a line for all runs, and one for each known model.
 *
 * @param options `isCapped`: true under a cap on credits, which counts those of the embedded service too
 */
export function spendingText(totals: Totals, { isCapped = false } = {}): string[] {
  const { models, tokens, tokensUnknown, ...otherTotals } = totals;
  if (otherTotals.runs === 0) return [];
  const sums = isCapped ? otherTotals : { ...otherTotals, ...withoutOwnCredits(totals) };
  const lines = models.map(({ model, tokens: used, ...own }) => {
    const counts = used && `${pluralize(used.input, 'token')} in (${used.cached} cached), ${used.output} out`;
    const amounts = sumsText(own, { isHere: true, withCredits: isCapped });
    return `  ${model}: ${[...(counts === null ? [] : [counts]), ...amounts].join(', ')}`;
  });
  const tokenText =
    tokensUnknown === otherTotals.runs
      ? 'an unknown number of tokens'
      : `${pluralize(tokens, 'token')}${unknownText(tokensUnknown)}`;
  const amounts = sumsText(sums, {
    isHere: models.length > 0,
    withCredits: isCapped || hasPaidCredits(totals),
  });
  return [`${pluralize(sums.runs, 'run')} took ${[tokenText, ...amounts].join(', ')}`, ...lines];
}

/** Leaves out the credits of the embedded service, which cost nothing, and the dollars of runs that took credits. */
function withoutOwnCredits({ runs, credits: totalCredits, creditsUnknown, costUnknown, models }: Totals) {
  const localTotals = { runs: 0, credits: 0, creditsUnknown: 0 };
  for (const modelTotals of models) {
    localTotals.runs += modelTotals.runs;
    localTotals.credits += credits(modelTotals.credits ?? 0);
    localTotals.creditsUnknown += modelTotals.creditsUnknown;
  }
  const unknownCount = creditsUnknown - localTotals.creditsUnknown;
  const paidRuns = runs - localTotals.runs - unknownCount;
  return {
    credits:
      totalCredits === null || paidRuns === 0 ? null : inCredits(credits(totalCredits) - localTotals.credits),
    creditsUnknown: unknownCount,
    costUnknown: costUnknown - paidRuns,
  };
}

type ShownTotals = Omit<Totals, 'models' | 'runs' | 'tokens' | 'tokensUnknown'>;

/** @param isHere true if the embedded service, which knows costs, made some of the runs */
function sumsText(
  { credits: spentCredits, creditsUnknown, cost, costUnknown, estimated }: ShownTotals,
  { isHere, withCredits }: { readonly isHere: boolean; readonly withCredits: boolean },
): string[] {
  return [
    ...(spentCredits === null || !withCredits
      ? []
      : [`${creditsText(credits(spentCredits))}${unknownText(creditsUnknown)}`]),
    ...(cost === null ? [] : [`${dollarsText(cost, estimated)}${unknownText(costUnknown)}`]),
    ...(spentCredits === null && creditsUnknown > 0 && withCredits ? ['credits unknown'] : []),
    ...(cost === null && isHere ? ['cost unknown'] : []),
  ];
}

function unknownText(runs: number): string {
  return runs === 0 ? '' : ` (unknown for ${runs})`;
}

function dollarsText(dollars: number, estimated: boolean): string {
  return `${formatDollars(toMoney(dollars))}${estimated ? ' estimated' : ''}`;
}

export function spentTitles({ withCredits }: { readonly withCredits: boolean }): string[] {
  return ['tokens', ...(withCredits ? ['credits'] : []), 'cost'];
}

/** Returns the spending of runs as the cells of a table. */
export function spentCells(
  { tokens, credits: spentCredits, cost, estimated }: Totals,
  { withCredits }: { readonly withCredits: boolean },
): string[] {
  const creditCells = withCredits ? [String(spentCredits ?? '–')] : [];
  return [String(tokens), ...creditCells, cost === null ? '–' : dollarsText(cost, estimated)];
}

/** Returns the spending of runs as names and values, for report formats without their own form for it. */
export function spentProperties({ models, ...totals }: Totals): (readonly [name: string, value: string])[] {
  const entries = Object.entries(totals).map(([name, value]) => [name, String(value ?? 'unknown')] as const);
  const byModel = models.flatMap(({ model, tokens, ...sums }) =>
    // An offline model counts no tokens.
    Object.entries({
      ...sums,
      ...(tokens && { inputTokens: tokens.input, outputTokens: tokens.output }),
    }).map(([name, value]) => [`${model} ${name}`, String(value ?? 'unknown')] as const),
  );
  return [...entries, ...byModel];
}
