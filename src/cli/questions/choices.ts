import type { Choice } from './types.ts';

/** The choices whose name or description holds every word, those that begin with the words first. */
export function matching<T>(choices: readonly Choice<T>[], words: string): readonly Choice<T>[] {
  const wanted = folded(words).split(/\s+/u).filter(Boolean);
  const found = choices.filter(choice => {
    const text = folded(`${choice.name} ${choice.description ?? ''}`);
    return wanted.every(word => text.includes(word));
  });
  const begins = (choice: Choice<T>) => folded(choice.name).startsWith(folded(words).trim());
  return [...found.filter(begins), ...found.filter(choice => !begins(choice))];
}

/** What is wrong with the number of choices taken, if anything. */
export function chosenTooFewOrMany(
  count: number,
  { min = 0, max = Number.POSITIVE_INFINITY }: { min?: number; max?: number },
): string | undefined {
  if (count >= min && count <= max) {
    return undefined;
  }
  return `Choose ${countAsked(min, max)}; ${count} chosen.`;
}

/** How many choices are asked for, as text. */
export function countAsked(min: number, max: number): string {
  if (min === max) {
    return `exactly ${min}`;
  }
  if (max === Number.POSITIVE_INFINITY) {
    return `at least ${min}`;
  }
  return min === 0 ? `at most ${max}` : `from ${min} to ${max}`;
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
