import { formatDollars, money } from '../../wire/money.ts';
import { credits, creditsText } from './caps.ts';
import type { Totals } from './spending.ts';

/** What runs came to in words: a line for all, and one for each model if there are several. */
export function spendingText({ models, tokens, ...sums }: Totals): string[] {
  if (sums.runs === 0) return [];
  const lines = models.map(({ model, tokens: counted, ...own }) => {
    const counts = counted && `${counted.input} tokens in (${counted.cached} cached), ${counted.output} out`;
    return `  ${model}: ${[...(counts === null ? [] : [counts]), ...sumsText(own)].join(', ')}`;
  });
  const all = [`${tokens} ${tokens === 1 ? 'token' : 'tokens'}`, ...sumsText(sums)].join(', ');
  return [
    `${sums.runs} ${sums.runs === 1 ? 'run' : 'runs'} took ${all}`,
    ...(models.length > 1 ? lines : []),
  ];
}

type Sums = Omit<Totals, 'models' | 'tokens'>;

function sumsText({ runs, credits: taken, creditsUnknown, cost, costUnknown, estimated }: Sums): string[] {
  const unknown = (count: number): string => (count === 0 ? '' : ` (of ${count} not known)`);
  return [
    ...(taken === null ? [] : [`${creditsText(credits(taken))}${unknown(creditsUnknown)}`]),
    ...(cost === null
      ? []
      : [`${formatDollars(money(cost))}${estimated ? ' estimated' : ''}${unknown(costUnknown)}`]),
    ...(taken === null && creditsUnknown === runs ? ['credits not known'] : []),
  ];
}
