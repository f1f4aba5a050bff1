import { checkbox, confirm, input, number, password, search, select } from '@inquirer/prompts';
import { findHomeDirectory } from '../../files/user-folders.ts';
import { QuestionCancelledError, usageError } from '../core/errors.ts';
import { fitOnLine, wrapParagraph } from '../terminal/fit-text.ts';
import type { Io } from '../terminal/io.ts';
import { explainChoiceCount, explainNumberProblem, filterChoices } from './choices.ts';
import { editText } from './edit-text.ts';
import type {
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
import { createQuestionTheme, type KeyHints } from './question-theme.ts';
import { textQuestion } from './text-question.ts';
import { TypeAheadBuffer } from './type-ahead-buffer.ts';
import { completePath, resolveTypedPath } from './typed-path.ts';

/** Maximum number of visible lines of a list. */
const MAX_LISTED_LINES = 10;

/** Minimum number of visible lines of a list. */
const MIN_LISTED_LINES = 3;

/** Number of lines that a question needs besides its list. */
const OTHER_LINE_COUNT = 8;

/** Columns for the mark before a question. */
const MESSAGE_MARGIN = 4;

/** Columns for the cursor and the tick of a choice. */
const CHOICE_MARGIN = 5;

/** Asks with questions that @inquirer/prompts draws in streams. */
export class DrawnPrompter implements Omit<Prompter, 'list'> {
  readonly #options: PrompterOptions;
  readonly #typedAhead = new TypeAheadBuffer();

  constructor(options: PrompterOptions) {
    this.#options = options;
  }

  text(
    { default: defaultText = '', required = false, lines, check, ...question }: TextQuestion,
    signal: AbortSignal,
  ): Promise<string> {
    const { env } = this.#options;
    const validate = async (answer: string) => (await check?.(answer)) ?? (true as const);
    const config = { ...this.#buildConfig(question), default: defaultText, required, validate };
    if (lines === 'refused') return this.#ask(signal, streams => input(config, streams));

    const edit = (text: string, editSignal: AbortSignal) =>
      lendTerminal(this.#options, editSignal, () => editText(text, { env, signal: editSignal }));
    const editor = lines === undefined && { edit };

    return runWithBracketedPaste(this.#options, () =>
      this.#ask(signal, streams =>
        textQuestion({ ...config, ...editor, signal: streams.signal }, streams),
      ),
    );
  }

  async path(
    { isProposed, check, ...question }: PathQuestion,
    signal: AbortSignal,
  ): Promise<string> {
    const { cwd, env } = this.#options;
    const pathContext = { cwd, home: findHomeDirectory(env), isProposed };
    const config = {
      ...this.#buildConfig(question),
      required: true,
      validate: async (text: string) =>
        (await check?.(resolveTypedPath(text, pathContext))) ?? (true as const),
      complete: (text: string) => completePath(text, pathContext),
    };
    const typedPath = await this.#ask(signal, streams =>
      textQuestion({ ...config, signal: streams.signal }, streams),
    );

    return resolveTypedPath(typedPath, pathContext);
  }

  number(
    { default: defaultNumber, required = false, isInteger = false, ...question }: NumberQuestion,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const validate = (answer?: number) =>
      (answer === undefined ? undefined : explainNumberProblem(answer, { isInteger })) ?? true;
    const limits = { step: 'any' as const, required, validate, default: defaultNumber };
    return this.#ask(signal, streams =>
      number({ ...this.#buildConfig(question), ...limits }, streams),
    );
  }

  confirm(
    { default: defaultAnswer = true, ...question }: ConfirmQuestion,
    signal: AbortSignal,
  ): Promise<boolean> {
    const config = { ...this.#buildConfig(question), default: defaultAnswer };
    return this.#ask(signal, streams => confirm(config, streams));
  }

  secret(question: Question, signal: AbortSignal): Promise<string> {
    const config = { ...this.#buildConfig(question), mask: '*', toggleMask: false };
    return this.#ask(signal, streams => password(config, streams));
  }

  choice<T>(
    { choices, default: defaultChoice, ...question }: ChoiceQuestion<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const config = {
      ...this.#buildConfig(question, ['type', 'to find']),
      ...(defaultChoice !== undefined && { default: defaultChoice }),
    };
    if (choices.length <= MAX_LISTED_LINES) {
      const drawnChoices = choices.map(choice => this.#fitChoice(choice));
      return this.#ask(signal, streams =>
        select({ ...config, choices: drawnChoices, loop: false }, streams),
      );
    }

    const source = (words = '') =>
      filterChoices(choices, words).map(choice => this.#fitChoice(choice));
    return this.#ask(signal, streams => search({ ...config, source }, streams));
  }

  search<T>({ find, ...question }: SearchQuestion<T>, signal: AbortSignal): Promise<T> {
    const config = this.#buildConfig(question, ['type', 'to search']);
    const source = async (words: string | undefined, changed: { signal: AbortSignal }) => {
      const foundChoices = await find(words ?? '', AbortSignal.any([signal, changed.signal]));
      return foundChoices.map(choice => this.#fitChoice(choice));
    };
    return this.#ask(signal, streams => search({ ...config, source }, streams));
  }

  multiselect<T>(
    { choices, defaults, min, max, ...question }: MultiselectQuestion<T>,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const tickedChoices = choices.map(choice => ({
      ...this.#fitChoice(choice),
      checked: defaults?.includes(choice.value) ?? false,
    }));
    const validate = (chosen: readonly unknown[]) =>
      explainChoiceCount(chosen.length, { min, max }) ?? true;
    return this.#ask(signal, streams =>
      checkbox({ ...this.#buildConfig(question), choices: tickedChoices, validate }, streams),
    );
  }

  #ask<T>(signal: AbortSignal, prompt: (streams: QuestionStreams) => Promise<T>): Promise<T> {
    return askUntilLeft({ io: this.#options.io, typedAhead: this.#typedAhead }, signal, prompt);
  }

  #buildConfig({ message, description }: Question, ...moreKeys: KeyHints) {
    const { stderr } = this.#options.io;
    return {
      message: fitOnLine(message, stderr.columns - MESSAGE_MARGIN),
      pageSize: Math.max(
        MIN_LISTED_LINES,
        Math.min(MAX_LISTED_LINES, stderr.rows - OTHER_LINE_COUNT),
      ),
      theme: createQuestionTheme(this.#options, description, moreKeys),
    };
  }

  #fitChoice<T>({ value, name, description }: Choice<T>) {
    const { columns } = this.#options.io.stderr;
    return {
      value,
      name: fitOnLine(name, columns - CHOICE_MARGIN),
      ...(description && { description: wrapParagraph(description, columns) }),
    };
  }
}

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
 * @throws {QuestionCancelledError} on Ctrl-C, on Ctrl-D on an empty line, and if the terminal goes away
 */
async function askUntilLeft<T>(
  { io, typedAhead }: { readonly io: Io; readonly typedAhead: TypeAheadBuffer },
  signal: AbortSignal,
  prompt: (streams: QuestionStreams) => Promise<T>,
): Promise<T> {
  const input = io.stdin.stream;
  if (input.readableEnded) {
    throw usageError(
      "promptrun can't ask anything: standard input has been read to its end",
      'Give everything else by flags if one of them reads standard input.',
    );
  }

  const questionLeft = new AbortController();
  const leave = (): void => questionLeft.abort(new QuestionCancelledError());

  const leaveOnKey = (_text: unknown, key: Keypress = {}): void => {
    if (leavesQuestion(key, input)) leave();
  };

  const listeners = [
    ['keypress', leaveOnKey],
    ['keypress', typedAhead.record],
    ['end', leave],
    ['close', leave],
  ] as const;

  const endSignal = AbortSignal.any([signal, questionLeft.signal]);
  try {
    const answer = prompt(createQuestionStreams(io, endSignal));
    typedAhead.restore(input);
    for (const [event, listener] of listeners) input.on(event, listener);
    return await answer;
  } catch (error) {
    endSignal.throwIfAborted();
    throw error;
  } finally {
    for (const [event, listener] of listeners) input.off(event, listener);
  }
}

interface Keypress {
  readonly ctrl?: boolean;
  readonly name?: string;
}

/**
 * Returns true for Ctrl-C, and for Ctrl-D on an empty line, which closes readline without any
 * notification.
 */
function leavesQuestion({ ctrl, name }: Keypress, input: NodeJS.ReadStream): boolean {
  return ctrl === true && (name === 'c' || (name === 'd' && input.isPaused()));
}

function createQuestionStreams(io: Io, signal: AbortSignal): QuestionStreams {
  return {
    input: io.stdin.stream,
    output: io.stderr.stream,
    signal,
    get clearPromptOnDone() {
      return signal.aborted;
    },
  };
}

const START_BRACKETED_PASTE = '\u001b[?2004h';
const STOP_BRACKETED_PASTE = '\u001b[?2004l';

/** Turns on bracketed paste in the terminal while `use` runs. */
async function runWithBracketedPaste<T>(
  { io }: PrompterOptions,
  use: () => Promise<T>,
): Promise<T> {
  io.err(START_BRACKETED_PASTE);
  try {
    return await use();
  } finally {
    io.err(STOP_BRACKETED_PASTE);
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
  io.err(STOP_BRACKETED_PASTE);

  try {
    return await use();
  } finally {
    stream.setRawMode?.(!signal.aborted);
    if (!signal.aborted) io.err(START_BRACKETED_PASTE);
  }
}
