import { createWordMatcher, foldText } from '../../utils/word-matcher.ts';
import type { Choice } from './question.ts';

/**
 * Returns the choices whose name or description has every word, those that begin with the words
 * first.
 */
export function filterChoices<T>(
  choices: readonly Choice<T>[],
  words: string,
): readonly Choice<T>[] {
  const hasWords = createWordMatcher(words);
  const matches = choices.filter(({ name, description }) =>
    hasWords(`${name} ${description ?? ''}`),
  );
  const beginsWithWords = (choice: Choice<T>) =>
    foldText(choice.name).startsWith(foldText(words).trim());
  return [
    ...matches.filter(beginsWithWords),
    ...matches.filter(choice => !beginsWithWords(choice)),
  ];
}

/** Explains why a number of selected choices is not valid; undefined if it is. */
export function explainChoiceCount(
  count: number,
  {
    min = 0,
    max = Number.POSITIVE_INFINITY,
  }: { min?: number | undefined; max?: number | undefined },
): string | undefined {
  return count >= min && count <= max
    ? undefined
    : `Choose ${formatChoiceCount(min, max)}; ${count} chosen.`;
}

/** Formats how many choices may be selected. */
export function formatChoiceCount(min: number, max: number): string {
  if (min === max) return `exactly ${min}`;
  if (max === Number.POSITIVE_INFINITY) return `at least ${min}`;
  return min === 0 ? `at most ${max}` : `from ${min} to ${max}`;
}

/** Explains why a number is not valid; undefined if it is. */
export function explainNumberProblem(
  value: number,
  { isInteger = false }: { readonly isInteger?: boolean },
): string | undefined {
  if (!Number.isFinite(value)) return 'Enter a number.';
  if (isInteger && !Number.isInteger(value)) return 'Enter a whole number.';
  return Math.abs(value) > Number.MAX_SAFE_INTEGER
    ? 'This number is too large to be kept exactly.'
    : undefined;
}
