import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { findHomeDirectory } from '../../files/user-folders.ts';
import { QuestionCancelledError } from '../core/errors.ts';
import { fitOnLine } from '../terminal/fit-text.ts';
import type { Io } from '../terminal/io.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { explainChoiceCount, explainNumberProblem, filterChoices } from './choices.ts';
import type { PathContext } from './path-completions.ts';
import type {
  AnswerCheck,
  Choice,
  ChoiceQuestion,
  ConfirmQuestion,
  MultiselectQuestion,
  NumberQuestion,
  PathQuestion,
  Prompter,
  PrompterOptions,
  Question,
  SearchQuestion,
  TextQuestion,
} from './question.ts';
import { resolveTypedPath } from './typed-path.ts';

/** Maximum length of a description, in columns. */
const MAX_DESCRIPTION_WIDTH = 400;

/** The problem of an empty answer to a question that requires one. */
const EMPTY_ANSWER_PROBLEM = 'Enter an answer.';

interface LineQuestion extends Question {
  /** A text between the question and its colon. */
  readonly hint?: string;
  /** True if the terminal must not show the answer; default false. */
  readonly isHidden?: boolean;
}

/** Asks with plain lines and numbered lists, for screen readers and dumb terminals. */
export class LinePrompter implements Omit<Prompter, 'list'> {
  readonly #io: Io;
  readonly #pathContext: PathContext;

  constructor({ io, env, cwd }: PrompterOptions) {
    this.#io = io;
    this.#pathContext = { cwd, home: findHomeDirectory(env) };
  }

  text(
    { default: defaultText = '', required = false, check, ...question }: TextQuestion,
    signal: AbortSignal,
  ): Promise<string> {
    return this.#ask({ ...question, hint: formatDefaultHint(defaultText) }, signal, line =>
      validateAnswer(line || defaultText, { required, check }),
    );
  }

  number(
    { default: defaultNumber, required = false, isInteger = false, ...question }: NumberQuestion,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const defaultText = defaultNumber === undefined ? '' : String(defaultNumber);
    return this.#ask({ ...question, hint: formatDefaultHint(defaultText) }, signal, line =>
      validateNumber(line.trim() || defaultText, { required, isInteger }),
    );
  }

  confirm(
    { default: defaultAnswer = true, ...question }: ConfirmQuestion,
    signal: AbortSignal,
  ): Promise<boolean> {
    return this.#ask({ ...question, hint: defaultAnswer ? ' (Y/n)' : ' (y/N)' }, signal, line => {
      if (line === '') return { answer: defaultAnswer };
      if (/^y(?:es)?$/iu.test(line)) return { answer: true };
      return /^no?$/iu.test(line) ? { answer: false } : { problem: 'Answer y or n.' };
    });
  }

  secret(question: Question, signal: AbortSignal): Promise<string> {
    return this.#ask({ ...question, hint: ' (not shown)', isHidden: true }, signal, line => ({
      answer: line,
    }));
  }

  choice<T>(
    { choices, default: defaultValue, ...question }: ChoiceQuestion<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const defaultName = choices.find(({ value }) => value === defaultValue)?.name ?? '';
    this.#list(choices);
    return this.#ask({ ...question, hint: formatDefaultHint(defaultName) }, signal, line =>
      findChoice(choices, line || defaultName),
    );
  }

  async search<T>({ find, ...question }: SearchQuestion<T>, signal: AbortSignal): Promise<T> {
    let choices = await find('', signal);
    for (;;) {
      this.#list(choices);
      const hint = choices.length === 0 ? '' : ' (a number, or other words)';
      const typedWords = await this.#ask({ ...question, hint }, signal, line => ({ answer: line }));
      const choice = /^\d+$/u.test(typedWords) ? findChoice(choices, typedWords) : undefined;
      if (choice !== undefined && 'answer' in choice) return choice.answer;

      choices = await find(typedWords, signal);
      if (choices.length === 0) this.#io.err('Nothing found.\n');
    }
  }

  multiselect<T>(question: MultiselectQuestion<T>, signal: AbortSignal): Promise<readonly T[]> {
    const defaultChoices = question.choices.filter(({ value }) =>
      question.defaults?.includes(value),
    );
    const defaultNames = defaultChoices.map(({ name }) => name).join(', ');
    const hint = ` with commas between${formatDefaultHint(defaultNames)}`;
    this.#list(question.choices);
    return this.#ask({ ...question, hint }, signal, line => findChoices(question, line));
  }

  path({ check, ...question }: PathQuestion, signal: AbortSignal): Promise<string> {
    return this.#ask(question, signal, line =>
      validateAnswer(line && resolveTypedPath(line, this.#pathContext), { required: true, check }),
    );
  }

  #list<T>(choices: readonly Choice<T>[]): void {
    this.#io.err(formatNumberedList(choices, this.#io.stderr.columns));
  }

  /** Asks until the answer is valid. */
  async #ask<T>(
    { message, description, hint = '', isHidden = false }: LineQuestion,
    signal: AbortSignal,
    validate: (line: string) => ValidatedAnswer<T> | Promise<ValidatedAnswer<T>>,
  ): Promise<T> {
    const explanation = description ? `. ${fitOnLine(description, MAX_DESCRIPTION_WIDTH)}` : '';
    const prompt = `${toOneLine(message)}${explanation}${hint}: `;
    for (;;) {
      const typedLine = await readLine(prompt, { io: this.#io, signal, isHidden });
      const result = await validate(typedLine);
      if ('answer' in result) return result.answer;
      this.#io.err(`${toOneLine(result.problem)}\n`);
    }
  }
}

function formatDefaultHint(defaultText: string): string {
  return defaultText === '' ? '' : ` (default: ${toOneLine(defaultText)})`;
}

async function validateAnswer(
  answer: string,
  { required, check }: { readonly required: boolean; readonly check: AnswerCheck | undefined },
): Promise<ValidatedAnswer<string>> {
  const problem = required && answer === '' ? EMPTY_ANSWER_PROBLEM : await check?.(answer);
  return problem === undefined ? { answer } : { problem };
}

function validateNumber(
  text: string,
  { required, isInteger }: { readonly required: boolean; readonly isInteger: boolean },
): ValidatedAnswer<number | undefined> {
  if (text === '') return required ? { problem: EMPTY_ANSWER_PROBLEM } : { answer: undefined };
  const problem = explainNumberProblem(Number(text), { isInteger });
  return problem === undefined ? { answer: Number(text) } : { problem };
}

type ValidatedAnswer<T> = { readonly answer: T } | { readonly problem: string };

/** Returns the numbered choices, one per line. */
export function formatNumberedList<T>(choices: readonly Choice<T>[], columns: number): string {
  return choices
    .map(({ name, description }, index) => {
      const text = description ? `${name}: ${description}` : name;
      return `${fitOnLine(`  ${index + 1}. ${text}`, columns)}\n`;
    })
    .join('');
}

/** Finds a choice by its name, else by its number, else by words that match no other. */
export function findChoice<T>(
  choices: readonly Choice<T>[],
  typedText: string,
): ValidatedAnswer<T> {
  const choiceByNumber = /^\d+$/u.test(typedText) ? choices[Number(typedText) - 1] : undefined;
  const choiceByName = choices.find(({ name }) => name === typedText);
  const [first, ...others] = typedText === '' ? [] : filterChoices(choices, typedText);
  const choice = choiceByName ?? choiceByNumber ?? (others.length === 0 ? first : undefined);
  if (choice !== undefined) return { answer: choice.value };

  return {
    problem:
      first === undefined ? `Choose from 1 to ${choices.length}.` : 'More than one choice matches.',
  };
}

/** Finds choices separated by commas, each in the form of `findChoice`. */
export function findChoices<T>(
  question: MultiselectQuestion<T>,
  typedText: string,
): ValidatedAnswer<readonly T[]> {
  const results =
    typedText === ''
      ? []
      : typedText.split(',').map(name => findChoice(question.choices, name.trim()));
  const invalidResult = results.find(result => 'problem' in result);
  if (invalidResult !== undefined) return invalidResult;

  const chosenAnswers = results.flatMap(result => ('answer' in result ? [result.answer] : []));
  const answers = new Set(typedText === '' ? question.defaults : chosenAnswers);
  const problem = explainChoiceCount(answers.size, question);
  return problem === undefined ? { answer: [...answers] } : { problem };
}

interface ReadLineOptions {
  readonly io: Io;
  readonly signal: AbortSignal;
  /** True if the terminal must not show what is typed. */
  readonly isHidden: boolean;
}

/**
 * Reads one line, with the terminal's own editing.
 *
 * @throws {QuestionCancelledError} on Ctrl-C, Ctrl-D and the end of input
 */
async function readLine(
  question: string,
  { io, signal, isHidden }: ReadLineOptions,
): Promise<string> {
  signal.throwIfAborted();
  io.err(question);

  const discardingOutput = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: io.stdin.stream,
    signal,
    ...(isHidden && { output: discardingOutput, terminal: true }),
  });
  // Only the first line is read.
  for await (const line of lines) {
    io.err(isHidden ? '\n' : '');
    return line;
  }

  io.err('\n');
  signal.throwIfAborted();
  throw new QuestionCancelledError();
}
