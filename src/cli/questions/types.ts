import type { Env } from '../core/types.ts';
import type { Io } from '../terminal/io.ts';

/** Says what is wrong with an answer, or nothing where it is right; shown at once, and asked again. */
export type Check<T> = (answer: T) => string | undefined | Promise<string | undefined>;

interface Question {
  /** What is asked for, without a colon or question mark added. */
  readonly message: string;
  /** More about it, shown beneath the question while it stands. */
  readonly description?: string;
}

export interface TextQuestion extends Question {
  /** Taken when nothing is typed. */
  readonly default?: string;
  /** Refuses an empty answer; false by default. */
  readonly required?: boolean;
  readonly check?: Check<string>;
}

export interface SecretQuestion extends Question {
  readonly check?: Check<string>;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  readonly description?: string;
}

export interface ChoiceQuestion<T> extends Question {
  /** At least one; typing filters them by name and description. */
  readonly choices: readonly Choice<T>[];
  /** The choice the cursor starts on. */
  readonly default?: T;
}

export interface SearchQuestion<T> extends Question {
  /** Finds the choices for what has been typed so far; called again at each pause of the typing. */
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
  readonly check?: Check<string>;
}

/**
 * Asks a person on the terminal. Questions are drawn on standard error and leave one line with the answer behind.
 * Each takes a signal and throws its `Interrupted` once aborted; Ctrl-C and the end of input throw `Interrupted`
 * as well, with the terminal as it was before.
 */
export interface Prompter {
  /** A line, or through $VISUAL or $EDITOR a text of any length, without the newline an editor adds at its end. */
  text(question: TextQuestion, signal: AbortSignal): Promise<string>;
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
