import { formatDollars, money } from '../../wire/money.ts';
import { counted } from '../core/counted.ts';
import { credits, creditsText } from './caps.ts';
import type { Totals } from './spending.ts';

/** What runs came to in words: a line for all, and one for each model if there are several. */
export function spendingText({ models, tokens, tokensUnknown, ...sums }: Totals): string[] {
  if (sums.runs === 0) return [];
  const lines = models.map(({ model, tokens: used, ...own }) => {
    const counts = used && `${used.input} tokens in (${used.cached} cached), ${used.output} out`;
    return `  ${model}: ${[...(counts === null ? [] : [counts]), ...sumsText(own, true)].join(', ')}`;
  });
  const taken = `${counted(tokens, 'token')}${unknown(tokensUnknown)}`;
  return [
    `${counted(sums.runs, 'run')} took ${[taken, ...sumsText(sums, models.length > 0)].join(', ')}`,
    ...(models.length > 1 ? lines : []),
  ];
}

type Sums = Omit<Totals, 'models' | 'tokens' | 'tokensUnknown'>;

/** @param isHere whether this machine's own service made some of the runs, which can tell what they cost */
function sumsText(
  { runs, credits: taken, creditsUnknown, cost, costUnknown, estimated }: Sums,
  isHere: boolean,
): string[] {
  return [
    ...(taken === null ? [] : [`${creditsText(credits(taken))}${unknown(creditsUnknown)}`]),
    ...(cost === null ? [] : [`${dollarsText(cost, estimated)}${unknown(costUnknown)}`]),
    ...(taken === null && creditsUnknown === runs ? ['credits not known'] : []),
    ...(cost === null && isHere ? ['cost not known'] : []),
  ];
}

function unknown(runs: number): string {
  return runs === 0 ? '' : ` (of ${runs} not known)`;
}

function dollarsText(dollars: number, estimated: boolean): string {
  return `${formatDollars(money(dollars))}${estimated ? ' estimated' : ''}`;
}

/** What `spentCells` gives of totals, in its order. */
export const SPENT = ['tokens', 'credits', 'cost'] as const;

/** What runs came to as the cells of a table. */
export function spentCells({ tokens, credits: taken, cost, estimated }: Totals): string[] {
  return [String(tokens), String(taken ?? '–'), cost === null ? '–' : dollarsText(cost, estimated)];
}

/** What runs came to as names and values, for reports that have no other form for it. */
export function spentProperties({ models, ...totals }: Totals): (readonly [name: string, value: string])[] {
  const all = Object.entries(totals).map(([name, value]) => [name, String(value ?? 'unknown')] as const);
  const byModel = models.flatMap(({ model, tokens, ...sums }) =>
    Object.entries({ ...sums, inputTokens: tokens?.input, outputTokens: tokens?.output }).map(
      ([name, value]) => [`${model} ${name}`, String(value ?? 'unknown')] as const,
    ),
  );
  return [...all, ...byModel];
}
