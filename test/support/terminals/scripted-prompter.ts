import { explainNumberProblem } from '../../../src/cli/questions/choices.ts';
import type { Choice, Prompter } from '../../../src/cli/questions/question.ts';

/** A person's answer to the question of this message: typed text or names of choices. */
export type Answer = readonly [message: string, ...typed: (string | readonly string[])[]];

export interface ScriptedPrompter extends Prompter {
  /** Every question as it was put, with what was said of wrong answers. */
  readonly asked: string[];
  /** Fails where answers are left over. */
  verify(): void;
}

/**
 * Returns a person who answers questions in this order. An answer may be several attempts, of which
 * all but the last must be refused by the question itself.
 */
export function createScriptedPrompter(...script: readonly Answer[]): ScriptedPrompter {
  const left = [...script];
  const asked: string[] = [];

  const attempts = (question: { message: string; description?: string | undefined }) => {
    asked.push(
      question.description === undefined
        ? question.message
        : `${question.message}: ${question.description}`,
    );

    const [message, ...typed] = left.shift() ?? [];
    if (message !== question.message) {
      throw new Error(`asked for ${question.message}, expected ${message ?? 'no question'}`);
    }

    return typed;
  };

  const judged = async (
    question: {
      message: string;
      description?: string | undefined;
      required?: boolean;
      default?: string | undefined;
    },
    check: ((answer: string) => string | undefined | Promise<string | undefined>) | undefined,
  ): Promise<string> => {
    const typed = attempts(question).map(answer => String(answer) || (question.default ?? ''));
    for (const [index, answer] of typed.entries()) {
      const problem =
        question.required === true && answer === '' ? 'needed' : await check?.(answer);
      if (problem === undefined && index === typed.length - 1) return answer;
      asked.push(`  ${problem ?? `took ${answer}`}`);
    }
    throw new Error(`no answer to ${question.message} was accepted: ${asked.join('\n')}`);
  };

  const named = <T>(choices: readonly Choice<T>[], name: unknown): T => {
    const found = choices.find(choice => choice.name === name);
    if (found === undefined) {
      throw new Error(`${String(name)} is none of ${choices.map(one => one.name).join(', ')}`);
    }
    return found.value;
  };

  return {
    asked,
    verify: () => {
      if (left.length > 0) {
        throw new Error(`never asked for ${left.map(([message]) => message).join(', ')}`);
      }
    },
    text: question => judged(question, question.check),
    secret: question => judged(question, undefined),
    path: question => judged({ ...question, required: true }, question.check),
    number: async ({ default: standard, ...question }) => {
      const check = (text: string) =>
        text === ''
          ? undefined
          : explainNumberProblem(text.trim() === '' ? Number.NaN : Number(text), question);
      const text = await judged(
        { ...question, ...(standard !== undefined && { default: String(standard) }) },
        check,
      );
      return text === '' ? undefined : Number(text);
    },
    confirm: async question => {
      const answer = await judged({ message: question.message }, text =>
        /^(yes|no)?$/u.test(text) ? undefined : 'y or n',
      );
      return answer === '' ? (question.default ?? true) : answer === 'yes';
    },
    list: ({ default: standard = [], ...question }) => {
      const items = attempts(question).map(String);
      return Promise.resolve(items.length === 0 ? standard : items);
    },
    choice: async question => {
      const [name] = attempts(question);
      return name === '' && question.default !== undefined
        ? question.default
        : named(question.choices, name);
    },
    multiselect: async question => {
      const [names] = attempts(question);
      return Array.isArray(names)
        ? names.map(name => named(question.choices, name))
        : (question.defaults ?? []);
    },
    search: async (question, signal) => {
      const [words, name] = attempts(question);
      return named(await question.find(String(words), signal), name);
    },
  };
}
