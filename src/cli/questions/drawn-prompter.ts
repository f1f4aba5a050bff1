import { checkbox, confirm, input, number, password, search, select } from '@inquirer/prompts';
import { homeDirectory } from '../core/paths.ts';
import { QuestionLeft, usageError } from '../errors.ts';
import { fitted, paragraph } from '../terminal/fit-text.ts';
import { chosenTooFewOrMany, matchingChoices, numberProblem } from './choices.ts';
import { editText } from './editor.ts';
import { completePath, resolveTypedPath } from './path-completion.ts';
import { type KeyHints, questionTheme } from './question-theme.ts';
import { textQuestion } from './text-question.ts';
import type { Choice, Prompter, PrompterOptions, Question } from './types.ts';

/** Maximum number of visible list lines, and the lines that a question needs besides. */
const MAX_LINES = 10;
const OTHER_LINES = 8;
const MIN_LINES = 3;
/** Columns for the mark before a question, or for the cursor and tick of a choice. */
const MESSAGE_MARGIN = 4;
const CHOICE_MARGIN = 5;

/** Returns a prompter that draws questions in place with @inquirer/prompts. */
export function drawnPrompter(options: PrompterOptions): Omit<Prompter, 'list'> {
  const { io, env, cwd } = options;
  const columns = (): number => io.stderr.columns;
  const ask = <T>(signal: AbortSignal, prompt: (place: QuestionStreams) => Promise<T>): Promise<T> =>
    askUntilLeft(options, signal, prompt);
  const commonConfig = ({ message, description }: Question, ...moreKeys: KeyHints) => ({
    message: fitted(message, columns() - MESSAGE_MARGIN),
    pageSize: Math.max(MIN_LINES, Math.min(MAX_LINES, io.stderr.rows - OTHER_LINES)),
    theme: questionTheme(options, description, moreKeys),
  });
  const shownChoice = <T>({ value, name, description }: Choice<T>) => ({
    value,
    name: fitted(name, columns() - CHOICE_MARGIN),
    ...(description && { description: paragraph(description, columns()) }),
  });

  return {
    text: ({ default: standard = '', required = false, lines, check, ...question }, signal) => {
      const validate = async (answer: string) => (await check?.(answer)) ?? (true as const);
      const config = { ...commonConfig(question), default: standard, required, validate };
      if (lines === 'refused') return ask(signal, place => input(config, place));
      const edit = (text: string, left: AbortSignal) =>
        lendTerminal(options, left, () => editText(text, { env, signal: left }));
      const editor = lines === undefined && { edit };
      return bracketingPastes(options, () =>
        ask(signal, place => textQuestion({ ...config, ...editor, signal: place.signal }, place)),
      );
    },

    path: async ({ proposes, check, ...question }, signal) => {
      const where = { cwd, home: homeDirectory(env), proposes };
      const config = {
        ...commonConfig(question),
        required: true,
        validate: async (text: string) => (await check?.(resolveTypedPath(text, where))) ?? (true as const),
        complete: (text: string) => completePath(text, where),
      };
      const typed = await ask(signal, place => textQuestion({ ...config, signal: place.signal }, place));
      return resolveTypedPath(typed, where);
    },

    number: ({ default: standard, required = false, integer = false, ...question }, signal) => {
      const validate = (answer?: number) =>
        (answer === undefined ? undefined : numberProblem(answer, { integer })) ?? true;
      const limits = { step: 'any' as const, required, validate, default: standard };
      return ask(signal, place => number({ ...commonConfig(question), ...limits }, place));
    },

    confirm: ({ default: standard = true, ...question }, signal) =>
      ask(signal, place => confirm({ ...commonConfig(question), default: standard }, place)),

    secret: (question, signal) =>
      ask(signal, place => password({ ...commonConfig(question), mask: '*', toggleMask: false }, place)),

    choice: ({ choices, default: standard, ...question }, signal) => {
      const config = {
        ...commonConfig(question, ['type', 'to find']),
        ...(standard !== undefined && { default: standard }),
      };
      if (choices.length <= MAX_LINES) {
        return ask(signal, place =>
          select({ ...config, choices: choices.map(shownChoice), loop: false }, place),
        );
      }
      const source = (words = '') => matchingChoices(choices, words).map(shownChoice);
      return ask(signal, place => search({ ...config, source }, place));
    },

    search: ({ find, ...question }, signal) => {
      const source = async (words: string | undefined, changed: { signal: AbortSignal }) =>
        (await find(words ?? '', AbortSignal.any([signal, changed.signal]))).map(shownChoice);
      return ask(signal, place =>
        search({ ...commonConfig(question, ['type', 'to search']), source }, place),
      );
    },

    several: ({ choices, defaults, min, max, ...question }, signal) => {
      const isTicked = ({ value }: (typeof choices)[number]) => defaults?.includes(value) ?? false;
      const ticked = choices.map(choice => ({ ...shownChoice(choice), checked: isTicked(choice) }));
      const validate = (chosen: readonly unknown[]) =>
        chosenTooFewOrMany(chosen.length, { min, max }) ?? true;
      return ask(signal, place => checkbox({ ...commonConfig(question), choices: ticked, validate }, place));
    },
  };
}

/** The streams and the signal of a question. */
interface QuestionStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
  /** True so that an interrupted question leaves nothing on the screen. */
  readonly clearPromptOnDone: boolean;
}

/**
 * Asks one question.
 *
 * @throws {QuestionLeft} on Ctrl-C, on Ctrl-D on an empty line, and if the terminal goes away
 */
async function askUntilLeft<T>(
  { io }: PrompterOptions,
  signal: AbortSignal,
  prompt: (place: QuestionStreams) => Promise<T>,
): Promise<T> {
  const input = io.stdin.stream;
  if (input.readableEnded) {
    throw usageError(
      'nothing can be asked: standard input has been read to its end',
      'Give everything else by flags if one of them reads standard input.',
    );
  }
  const left = new AbortController();
  const leave = (): void => left.abort(new QuestionLeft());
  // Ctrl-D on an empty line closes readline without any notification.
  const leaveIfClosed = (_text: unknown, { ctrl, name }: { ctrl?: boolean; name?: string } = {}) => {
    if (ctrl === true && (name === 'c' || (name === 'd' && input.isPaused()))) leave();
  };
  const wanted = AbortSignal.any([signal, left.signal]);
  const place = {
    input,
    output: io.stderr.stream,
    signal: wanted,
    get clearPromptOnDone() {
      return wanted.aborted;
    },
  };
  try {
    const answer = prompt(place);
    input.on('keypress', leaveIfClosed).on('end', leave).on('close', leave);
    return await answer;
  } catch (error) {
    wanted.throwIfAborted();
    throw error;
  } finally {
    input.off('keypress', leaveIfClosed).off('end', leave).off('close', leave);
  }
}

const START_BRACKETING = '\u001b[?2004h';
const STOP_BRACKETING = '\u001b[?2004l';

/** Turns on bracketed paste in the terminal while `use` runs. */
async function bracketingPastes<T>({ io }: PrompterOptions, use: () => Promise<T>): Promise<T> {
  io.err(START_BRACKETING);
  try {
    return await use();
  } finally {
    io.err(STOP_BRACKETING);
  }
}

/** Lends the terminal to another program and restores it for the question afterwards. */
async function lendTerminal<T>(
  { io }: PrompterOptions,
  signal: AbortSignal,
  use: () => Promise<T>,
): Promise<T> {
  const { stream } = io.stdin;
  stream.setRawMode?.(false);
  io.err(STOP_BRACKETING);
  try {
    return await use();
  } finally {
    stream.setRawMode?.(!signal.aborted);
    if (!signal.aborted) io.err(START_BRACKETING);
  }
}
