import { formatDollars, money } from '../../wire/money.ts';
import { counted } from '../core/counted.ts';
import { credits, creditsText } from './caps.ts';
import type { Totals } from './spending.ts';

/** Returns false if the embedded service made all runs, because its credits cost nothing. */
export function hasPaidCredits({ runs, models }: Totals): boolean {
  return models.reduce((sum, own) => sum + own.runs, 0) < runs;
}

/**
 * Returns the spending of runs as text: a line for all runs, and one for each known model.
 *
 * @param withCredits defaults to true if the credits cost something
 */
export function spendingText(totals: Totals, withCredits = hasPaidCredits(totals)): string[] {
  const { models, tokens, tokensUnknown, ...sums } = totals;
  if (sums.runs === 0) return [];
  const lines = models.map(({ model, tokens: used, ...own }) => {
    const counts = used && `${used.input} tokens in (${used.cached} cached), ${used.output} out`;
    const amounts = sumsText(own, { isHere: true, withCredits });
    return `  ${model}: ${[...(counts === null ? [] : [counts]), ...amounts].join(', ')}`;
  });
  const tokenText = `${counted(tokens, 'token')}${unknownText(tokensUnknown)}`;
  return [
    `${counted(sums.runs, 'run')} took ${[tokenText, ...sumsText(sums, { isHere: models.length > 0, withCredits })].join(', ')}`,
    ...lines,
  ];
}

type ShownTotals = Omit<Totals, 'models' | 'tokens' | 'tokensUnknown'>;

/** @param isHere true if the embedded service, which knows costs, made some of the runs */
function sumsText(
  { runs, credits: spentCredits, creditsUnknown, cost, costUnknown, estimated }: ShownTotals,
  { isHere, withCredits }: { readonly isHere: boolean; readonly withCredits: boolean },
): string[] {
  return [
    ...(spentCredits === null || !withCredits
      ? []
      : [`${creditsText(credits(spentCredits))}${unknownText(creditsUnknown)}`]),
    ...(cost === null ? [] : [`${dollarsText(cost, estimated)}${unknownText(costUnknown)}`]),
    ...(spentCredits === null && creditsUnknown === runs && withCredits ? ['credits unknown'] : []),
    ...(cost === null && isHere ? ['cost unknown'] : []),
  ];
}

function unknownText(runs: number): string {
  return runs === 0 ? '' : ` (unknown for ${runs})`;
}

function dollarsText(dollars: number, estimated: boolean): string {
  return `${formatDollars(money(dollars))}${estimated ? ' estimated' : ''}`;
}

/** Returns the titles of `spentCells`. */
export function spentTitles(withCredits: boolean): string[] {
  return ['tokens', ...(withCredits ? ['credits'] : []), 'cost'];
}

/** Returns the spending of runs as the cells of a table. */
export function spentCells(
  { tokens, credits: spentCredits, cost, estimated }: Totals,
  withCredits: boolean,
): string[] {
  const creditCells = withCredits ? [String(spentCredits ?? '–')] : [];
  return [String(tokens), ...creditCells, cost === null ? '–' : dollarsText(cost, estimated)];
}

/** Returns the spending of runs as names and values, for report formats without a form of their own for it. */
export function spentProperties({ models, ...totals }: Totals): (readonly [name: string, value: string])[] {
  const all = Object.entries(totals).map(([name, value]) => [name, String(value ?? 'unknown')] as const);
  const byModel = models.flatMap(({ model, tokens, ...sums }) =>
    // An offline model counts no tokens.
    Object.entries({
      ...sums,
      ...(tokens && { inputTokens: tokens.input, outputTokens: tokens.output }),
    }).map(([name, value]) => [`${model} ${name}`, String(value ?? 'unknown')] as const),
  );
  return [...all, ...byModel];
}
