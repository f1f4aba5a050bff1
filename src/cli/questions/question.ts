import type { Env } from '../../utils/env.ts';
import type { Io } from '../terminal/io.ts';

/**
 * Explains why an answer is not valid; the explanation is shown and the question asked again.
 * Undefined if it is valid.
 */
export type AnswerCheck = (answer: string) => string | undefined | Promise<string | undefined>;

export interface Question {
  /** The question, shown without an added colon or question mark. */
  readonly message: string;
  /** A description, shown until the question is answered. */
  readonly description?: string | undefined;
}

/** A question that may have a default or an empty answer. */
export interface OpenQuestion<T> extends Question {
  /** The answer to an empty line. */
  readonly default?: T | undefined;
  /** True to refuse an empty answer; default false. */
  readonly required?: boolean;
}

export interface TextQuestion extends OpenQuestion<string> {
  /** The meaning of several lines; by default one text, for which an editor is offered. */
  readonly lines?: 'refused' | 'several items';
  readonly check?: AnswerCheck | undefined;
}

export interface NumberQuestion extends OpenQuestion<number> {
  /** True to refuse fractions; default false. */
  readonly isInteger?: boolean;
}

export interface ConfirmQuestion extends Question {
  /** The answer to an empty line; default true. */
  readonly default?: boolean | undefined;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  readonly description?: string;
}

export interface ChoiceQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  /** The initially selected choice. */
  readonly default?: T | undefined;
}

export interface SearchQuestion<T> extends Question {
  /** Finds the choices for the typed words; called whenever they change. */
  readonly find: (words: string, signal: AbortSignal) => Promise<readonly Choice<T>[]>;
}

export interface MultiselectQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  /** The initially ticked choices. */
  readonly defaults?: readonly T[];
  /** Minimum number of choices; default 0. */
  readonly min?: number;
  /** Maximum number of choices; unlimited by default. */
  readonly max?: number;
}

export interface PathQuestion extends Question {
  /** Returns true for file names to suggest; the user may type any other. */
  readonly isProposed: (fileName: string) => boolean;
  readonly check?: AnswerCheck | undefined;
}

/**
 * Asks questions on the terminal. They are drawn on standard error and leave one line with the
 * answer behind. Each throws its signal's reason if aborted; Ctrl-C, Ctrl-D and the end of input
 * throw `QuestionCancelledError`.
 */
export interface Prompter {
  /** Asks for a text of one or more lines, without an editor's final newline. */
  text(question: TextQuestion, signal: AbortSignal): Promise<string>;
  /** Asks for a number. Returns undefined for an empty line without a default. */
  number(question: NumberQuestion, signal: AbortSignal): Promise<number | undefined>;
  confirm(question: ConfirmQuestion, signal: AbortSignal): Promise<boolean>;
  /** Asks for texts, one per line, until an empty line. */
  list(question: OpenQuestion<readonly string[]>, signal: AbortSignal): Promise<readonly string[]>;
  /** Asks for a text that is never shown. */
  secret(question: Question, signal: AbortSignal): Promise<string>;
  choice<T>(question: ChoiceQuestion<T>, signal: AbortSignal): Promise<T>;
  search<T>(question: SearchQuestion<T>, signal: AbortSignal): Promise<T>;
  multiselect<T>(question: MultiselectQuestion<T>, signal: AbortSignal): Promise<readonly T[]>;
  /** Asks for a path, relative to the working directory, or an https URL. */
  path(question: PathQuestion, signal: AbortSignal): Promise<string>;
}

export interface PrompterOptions {
  readonly io: Io;
  readonly env: Env;
  readonly cwd: string;
}
