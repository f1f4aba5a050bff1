import type { Env } from '../core/types.ts';
import type { Io } from '../terminal/io.ts';

/** Says what is wrong with an answer, or nothing if it is right; shown at once, and the question is put again. */
export type Check = (answer: string) => string | undefined | Promise<string | undefined>;

export interface Question {
  /** What is asked for, without a colon or question mark added. */
  readonly message: string;
  /** More about it, shown with the question until it is answered. */
  readonly description?: string | undefined;
}

/** A question that may be left without an answer of one's own. */
export interface OpenQuestion<T> extends Question {
  /** Taken when nothing is typed. */
  readonly default?: T | undefined;
  /** Refuses an empty answer; false by default. */
  readonly required?: boolean;
}

export interface TextQuestion extends OpenQuestion<string> {
  /** What several lines are: by default one text, for which an editor is offered. */
  readonly lines?: 'refused' | 'several items';
  readonly check?: Check | undefined;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  readonly description?: string;
}

export interface ChoiceQuestion<T> extends Question {
  /** At least one. */
  readonly choices: readonly Choice<T>[];
  /** The choice the cursor starts on. */
  readonly default?: T | undefined;
}

export interface SearchQuestion<T> extends Question {
  /** Finds the choices for what has been typed so far; called again whenever that changes. */
  readonly find: (words: string, signal: AbortSignal) => Promise<readonly Choice<T>[]>;
}

export interface SeveralQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  /** The choices ticked at first. */
  readonly defaults?: readonly T[];
  /** Fewest choices accepted; 0 by default. */
  readonly min?: number;
  /** Most choices accepted; any number by default. */
  readonly max?: number;
}

export interface PathQuestion extends Question {
  /** Whether a file is worth proposing; the user may type any other. */
  readonly proposes: (fileName: string) => boolean;
  readonly check?: Check | undefined;
}

/**
 * Asks a person on the terminal. Questions are drawn on standard error and leave one line with the answer behind.
 * Each takes a signal and throws its reason once aborted; Ctrl-C, Ctrl-D and the end of input throw `QuestionLeft`.
 */
export interface Prompter {
  /** A text of one or more lines, without the newline an editor adds at its end. */
  text(question: TextQuestion, signal: AbortSignal): Promise<string>;
  /** Undefined if nothing is typed and there is no default; refuses what is not a whole number with `integer`. */
  number(
    question: OpenQuestion<number> & { readonly integer?: boolean },
    signal: AbortSignal,
  ): Promise<number | undefined>;
  /** Yes is the default, if no other is. */
  confirm(question: Question & { default?: boolean | undefined }, signal: AbortSignal): Promise<boolean>;
  /** Texts, one a line, until a line is left empty. */
  list(question: OpenQuestion<readonly string[]>, signal: AbortSignal): Promise<readonly string[]>;
  /** What is typed is never shown. */
  secret(question: Question, signal: AbortSignal): Promise<string>;
  choice<T>(question: ChoiceQuestion<T>, signal: AbortSignal): Promise<T>;
  search<T>(question: SearchQuestion<T>, signal: AbortSignal): Promise<T>;
  several<T>(question: SeveralQuestion<T>, signal: AbortSignal): Promise<readonly T[]>;
  /** A path as typed, relative to the working directory, or an https URL. */
  path(question: PathQuestion, signal: AbortSignal): Promise<string>;
}

export interface PrompterOptions {
  readonly io: Io;
  readonly env: Env;
  readonly cwd: string;
}
