import type { Env } from '../core/types.ts';
import type { Io } from '../terminal/io.ts';

/** Says what is wrong with an answer, or nothing if it is right; shown at once, and the question is put again. */
export type Check<T> = (answer: T) => string | undefined | Promise<string | undefined>;

export interface Question {
  /** What is asked for, without a colon or question mark added. */
  readonly message: string;
  /** More about it, shown with the question until it is answered. */
  readonly description?: string | undefined;
}

export interface TextQuestion extends Question {
  /** Taken when nothing is typed. */
  readonly default?: string | undefined;
  /** Refuses an empty answer; false by default. */
  readonly required?: boolean;
  /** What several lines are: by default one text, for which an editor is offered. */
  readonly lines?: 'refused' | 'several items';
  readonly check?: Check<string> | undefined;
}

export interface NumberQuestion extends Question {
  readonly default?: number | undefined;
  /** Refuses an empty answer; false by default. */
  readonly required?: boolean;
  /** Refuses what is not a whole number; false by default. */
  readonly integer?: boolean;
}

export interface ConfirmQuestion extends Question {
  /** Taken when nothing is typed; true by default. */
  readonly default?: boolean | undefined;
}

export interface ListQuestion extends Question {
  /** Taken when the first line is empty. */
  readonly default?: readonly string[] | undefined;
  /** Refuses an empty list; false by default. */
  readonly required?: boolean;
  /** Checks one item. */
  readonly check?: Check<string> | undefined;
}

export interface SecretQuestion extends Question {
  readonly check?: Check<string> | undefined;
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
  readonly check?: Check<string> | undefined;
}

/**
 * Asks a person on the terminal. Questions are drawn on standard error and leave one line with the answer behind.
 * Each takes a signal and throws its reason once aborted; Ctrl-C, Ctrl-D and the end of input throw `QuestionLeft`.
 */
export interface Prompter {
  /** A text of one or more lines, without the newline an editor adds at its end. */
  text(question: TextQuestion, signal: AbortSignal): Promise<string>;
  /** Undefined if nothing is typed and there is no default. */
  number(question: NumberQuestion, signal: AbortSignal): Promise<number | undefined>;
  confirm(question: ConfirmQuestion, signal: AbortSignal): Promise<boolean>;
  /** Texts, one a line, until a line is left empty. */
  list(question: ListQuestion, signal: AbortSignal): Promise<readonly string[]>;
  /** What is typed is never shown. */
  secret(question: SecretQuestion, signal: AbortSignal): Promise<string>;
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
