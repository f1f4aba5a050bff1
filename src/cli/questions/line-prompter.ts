import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { homeDirectory } from '../core/paths.ts';
import { QuestionLeft } from '../errors.ts';
import { fitted } from '../terminal/fit-text.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { chosenTooFewOrMany, matchingChoices, numberProblem } from './choices.ts';
import { resolveTypedPath } from './path-completion.ts';
import type { AnswerCheck, Choice, Prompter, PrompterOptions, Question, SeveralQuestion } from './types.ts';

/** Maximum length of a description, in columns. */
const MAX_DESCRIPTION_WIDTH = 400;

/** Returns a prompter with plain lines and numbered lists, for screen readers and dumb terminals. */
export function linePrompter({ io, env, cwd }: PrompterOptions): Omit<Prompter, 'list'> {
  /** Asks until the answer is valid. */
  const ask = async <T>(
    { message, description, hint = '', hidden = false }: Question & { hint?: string; hidden?: boolean },
    signal: AbortSignal,
    validate: (line: string) => Validated<T> | Promise<Validated<T>>,
  ): Promise<T> => {
    const about = description ? `. ${fitted(description, MAX_DESCRIPTION_WIDTH)}` : '';
    for (;;) {
      const typed = await readLine(`${oneLine(message)}${about}${hint}: `, { io, signal, hidden });
      const validated = await validate(typed);
      if ('answer' in validated) return validated.answer;
      io.err(`${oneLine(validated.problem)}\n`);
    }
  };

  const prompter: Omit<Prompter, 'list'> = {
    text: ({ default: standard = '', required = false, check, ...question }, signal) =>
      ask({ ...question, hint: defaultHint(standard) }, signal, line =>
        validatedAnswer(line || standard, required, check),
      ),

    number: async ({ default: standard, ...question }, signal) => {
      const check = (text: string) => (text === '' ? undefined : numberProblem(Number(text), question));
      const text = { ...question, ...(standard !== undefined && { default: String(standard) }), check };
      const answer = await prompter.text(text, signal);
      return answer.trim() === '' ? undefined : Number(answer);
    },

    confirm: ({ default: standard = true, ...question }, signal) =>
      ask({ ...question, hint: standard ? ' (Y/n)' : ' (y/N)' }, signal, line => {
        const isYes = line === '' ? standard : /^y(?:es)?$/iu.test(line);
        return isYes || line === '' || /^no?$/iu.test(line)
          ? { answer: isYes }
          : { problem: 'Answer y or n.' };
      }),

    secret: (question, signal) =>
      ask({ ...question, hint: ' (not shown)', hidden: true }, signal, line => ({ answer: line })),

    choice: ({ choices, default: standard, ...question }, signal) => {
      const name = choices.find(({ value }) => value === standard)?.name ?? '';
      io.err(numberedList(choices, io.stderr.columns));
      return ask({ ...question, hint: defaultHint(name) }, signal, line => oneChoice(choices, line || name));
    },

    search: async ({ find, ...question }, signal) => {
      let choices = await find('', signal);
      for (;;) {
        io.err(numberedList(choices, io.stderr.columns));
        const hint = choices.length === 0 ? '' : ' (a number, or other words)';
        const typed = await ask({ ...question, hint }, signal, line => ({ answer: line }));
        const chosen = /^\d+$/u.test(typed) ? oneChoice(choices, typed) : undefined;
        if (chosen !== undefined && 'answer' in chosen) return chosen.answer;
        choices = await find(typed, signal);
        io.err(choices.length === 0 ? 'Nothing found.\n' : '');
      }
    },

    several: (question, signal) => {
      const ticked = question.choices.filter(({ value }) => question.defaults?.includes(value));
      const standard = defaultHint(ticked.map(({ name }) => name).join(', '));
      io.err(numberedList(question.choices, io.stderr.columns));
      return ask({ ...question, hint: ` with commas between${standard}` }, signal, line =>
        severalChoices(question, line),
      );
    },

    path: ({ check, ...question }, signal) => {
      const resolved = (line: string) => resolveTypedPath(line, { cwd, home: homeDirectory(env) });
      return ask(question, signal, line => validatedAnswer(line && resolved(line), true, check));
    },
  };
  return prompter;
}

function defaultHint(standard: string): string {
  return standard === '' ? '' : ` (default: ${oneLine(standard)})`;
}

async function validatedAnswer(
  answer: string,
  required: boolean,
  check: AnswerCheck | undefined,
): Promise<Validated<string>> {
  const problem = required && answer === '' ? 'An answer is needed here.' : await check?.(answer);
  return problem === undefined ? { answer } : { problem };
}

/** A valid answer, or the problem with it. */
type Validated<T> = { readonly answer: T } | { readonly problem: string };

/** Returns the numbered choices, one per line. */
export function numberedList<T>(choices: readonly Choice<T>[], columns: number): string {
  return choices
    .map(({ name, description }, index) => {
      const text = description ? `${name}: ${description}` : name;
      return `${fitted(`  ${index + 1}. ${text}`, columns)}\n`;
    })
    .join('');
}

/** Finds a choice by its number, its name, or words that match no other. */
export function oneChoice<T>(choices: readonly Choice<T>[], typed: string): Validated<T> {
  const numbered = /^\d+$/u.test(typed) ? choices[Number(typed) - 1] : undefined;
  const named = choices.find(({ name }) => name === typed);
  const [first, ...others] = typed === '' ? [] : matchingChoices(choices, typed);
  const chosen = named ?? numbered ?? (others.length === 0 ? first : undefined);
  if (chosen !== undefined) return { answer: chosen.value };
  return {
    problem: first === undefined ? `Choose from 1 to ${choices.length}.` : 'More than one choice fits.',
  };
}

/** Finds choices separated by commas, each in the form of `oneChoice`. */
export function severalChoices<T>(question: SeveralQuestion<T>, typed: string): Validated<readonly T[]> {
  const parts = typed === '' ? [] : typed.split(',').map(part => oneChoice(question.choices, part.trim()));
  const wrong = parts.find(part => 'problem' in part);
  if (wrong !== undefined) return wrong;
  const chosen = parts.flatMap(part => ('answer' in part ? [part.answer] : []));
  const answers = new Set(typed === '' ? question.defaults : chosen);
  const problem = chosenTooFewOrMany(answers.size, question);
  return problem === undefined ? { answer: [...answers] } : { problem };
}

/**
 * Reads one line, with the terminal's own editing.
 *
 * @throws {QuestionLeft} on Ctrl-C, Ctrl-D and the end of input
 */
async function readLine(
  question: string,
  { io, signal, hidden }: { readonly io: Io; readonly signal: AbortSignal; readonly hidden: boolean },
): Promise<string> {
  signal.throwIfAborted();
  io.err(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, written) => written() });
  const input = io.stdin.stream;
  const lines = createInterface({ input, signal, ...(hidden && { output: nowhere, terminal: true }) });
  for await (const line of lines) {
    io.err(hidden ? '\n' : '');
    return line;
  }
  io.err('\n');
  signal.throwIfAborted();
  throw new QuestionLeft();
}
