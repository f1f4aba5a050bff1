import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { QuestionLeft } from '../../errors.ts';
import type { Io } from '../../terminal/io.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { chosenTooFewOrMany, matching } from '../choices.ts';
import { fitted } from '../fit-text.ts';
import { meantPath } from '../path-completion.ts';
import type { Check, Choice, Prompter, PrompterOptions, SeveralQuestion } from '../types.ts';

/** Longest description that is read out, in columns. */
const LONGEST = 400;

interface LineQuestion {
  readonly message: string;
  readonly description?: string;
}

/** Plain lines and numbered lists, for screen readers and for terminals that can't move the cursor. */
export function linePrompter({ io, env, cwd }: PrompterOptions): Prompter {
  const home = env['HOME'] ?? env['USERPROFILE'];

  /** Asks until the answer is right. */
  const ask = async <T>(
    question: LineQuestion & { readonly hint?: string; readonly hidden?: boolean },
    signal: AbortSignal,
    judge: (line: string) => Validated<T> | Promise<Validated<T>>,
  ): Promise<T> => {
    const description = question.description ? `. ${fitted(question.description, LONGEST)}` : '';
    const line = `${oneLine(question.message)}${description}${question.hint ?? ''}: `;
    for (;;) {
      const typed = await readLine(line, { io, signal, hidden: question.hidden ?? false });
      const judged = await judge(typed);
      if ('answer' in judged) {
        return judged.answer;
      }
      io.err(`${oneLine(judged.problem)}\n`);
    }
  };

  return {
    text: ({ default: standard = '', required = false, check, ...question }, signal) =>
      ask({ ...question, hint: standardHint(standard) }, signal, line =>
        checked(line || standard, { required, check }),
      ),

    secret: ({ check, ...question }, signal) =>
      ask({ ...question, hint: ' (not shown)', hidden: true }, signal, line => checked(line, { check })),

    choice: ({ choices, default: standard, ...question }, signal) => {
      const at = choices.findIndex(({ value }) => value === standard);
      const name = choices[at]?.name ?? '';
      io.err(numberedList(choices, io.stderr.columns));
      return ask({ ...question, hint: standardHint(name) }, signal, line => oneChoice(choices, line || name));
    },

    search: async (question, signal) => {
      let found = await question.find('', signal);
      for (;;) {
        io.err(numberedList(found, io.stderr.columns));
        const hint = found.length === 0 ? '' : ' (a number, or other words)';
        const typed = await ask({ ...question, hint }, signal, line => ({ answer: line }));
        const judged = /^\d+$/u.test(typed) ? oneChoice(found, typed) : undefined;
        if (judged !== undefined && 'answer' in judged) {
          return judged.answer;
        }
        found = await question.find(typed, signal);
        io.err(found.length === 0 ? 'Nothing found.\n' : '');
      }
    },

    several: (question, signal) => {
      const names = question.choices.filter(({ value }) => question.defaults?.includes(value));
      const standard = standardHint(names.map(({ name }) => name).join(', '));
      io.err(numberedList(question.choices, io.stderr.columns));
      return ask({ ...question, hint: ` with commas between${standard}` }, signal, line =>
        severalChoices(question, line),
      );
    },

    path: ({ check, ...question }, signal) =>
      ask(question, signal, async line =>
        checked(line === '' ? '' : await meantPath(line, { cwd, home }), { required: true, check }),
      ),
  };
}

function standardHint(standard: string): string {
  return standard === '' ? '' : ` (default: ${oneLine(standard)})`;
}

async function checked(
  answer: string,
  { required = false, check }: { required?: boolean; check?: Check<string> | undefined },
): Promise<Validated<string>> {
  const problem = required && answer === '' ? 'An answer is needed here.' : await check?.(answer);
  return problem === undefined ? { answer } : { problem };
}

/** An answer, or what is wrong with what was typed. */
export type Validated<T> = { readonly answer: T } | { readonly problem: string };

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
export function oneChoice<T>(choices: readonly Choice<T>[], typed: string): Validated<T> {
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
export function severalChoices<T>(question: SeveralQuestion<T>, typed: string): Validated<readonly T[]> {
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

export interface LineReading {
  readonly io: Io;
  readonly signal: AbortSignal;
  /** Reads without showing what is typed. */
  readonly hidden?: boolean;
}

/** Reads one line, edited as the terminal itself does it. @throws {Interrupted} at Ctrl-C, Ctrl-D and the end of input */
export async function readLine(
  question: string,
  { io, signal, hidden = false }: LineReading,
): Promise<string> {
  signal.throwIfAborted();
  io.err(question);
  const lines = createInterface({
    input: io.stdin.stream,
    ...(hidden && { output: nowhere(), terminal: true }),
  });
  let leave = (): void => {};
  try {
    const line = await new Promise<string>((resolve, reject) => {
      leave = () => reject(signal.aborted ? (signal.reason as Error) : new QuestionLeft());
      signal.addEventListener('abort', leave);
      lines.once('line', resolve).once('close', leave).once('SIGINT', leave);
    });
    io.err(hidden ? '\n' : '');
    return line;
  } catch (error) {
    io.err('\n');
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
    lines.close();
  }
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, written) => written() });
}
