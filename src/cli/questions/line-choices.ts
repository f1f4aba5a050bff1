import type { Choice, SeveralQuestion } from '../prompter.ts';
import { chosenTooFewOrMany, matching } from './choices.ts';
import { fitted } from './fit-text.ts';

/** An answer, or what is wrong with what was typed. */
export type Judged<T> = { readonly answer: T } | { readonly problem: string };

/** The choices with their numbers, one a line. */
export function numberedList<T>(choices: readonly Choice<T>[], columns: number): string {
  return choices
    .map(({ name, description }, at) => {
      const text = description ? `${name}: ${description}` : name;
      return `${fitted(`  ${at + 1}. ${text}`, columns)}\n`;
    })
    .join('');
}

/** A choice by its number, its name, or words that fit no other. */
export function oneChoice<T>(choices: readonly Choice<T>[], typed: string): Judged<T> {
  const numbered = /^\d+$/u.test(typed) ? choices[Number(typed) - 1] : undefined;
  const named = choices.find(({ name }) => name === typed);
  const [first, ...others] = typed === '' ? [] : matching(choices, typed);
  const chosen = named ?? numbered ?? (others.length === 0 ? first : undefined);
  if (chosen !== undefined) {
    return { answer: chosen.value };
  }
  return {
    problem: first === undefined ? `Choose from 1 to ${choices.length}.` : 'More than one choice fits.',
  };
}

/** Choices with commas between them, each as `oneChoice` takes it. */
export function severalChoices<T>(question: SeveralQuestion<T>, typed: string): Judged<readonly T[]> {
  const parts = typed.split(',').map(part => part.trim());
  const judged = typed === '' ? [] : parts.map(part => oneChoice(question.choices, part));
  const answers = new Set(typed === '' ? question.defaults : []);
  for (const one of judged) {
    if ('problem' in one) {
      return one;
    }
    answers.add(one.answer);
  }
  const problem = chosenTooFewOrMany(answers.size, question);
  return problem === undefined ? { answer: [...answers] } : { problem };
}
