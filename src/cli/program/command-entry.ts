import type { Declare } from '../context.ts';

/** A command of the tree: what the help of its parent says of it, and where the rest is. */
export interface CommandEntry {
  /** The words that call it, such as `runs list`. */
  readonly path: string;
  readonly summary: string;
  /** Under which heading its parent's help shows it. */
  readonly heading?: string;
  /** Loaded when the command, or its help, is asked for. */
  readonly load: () => Promise<Declare>;
  readonly hidden?: boolean;
}

/** A noun that has verbs. */
export interface GroupEntry {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly heading: string;
  /** Arguments that show what it is for. */
  readonly examples: readonly string[];
  /** What it does without a verb; by default it explains itself. */
  readonly load?: CommandEntry['load'];
}

export const RUNNING = 'Run prompts:';
export const LOOKING = 'Look around:';
export const SETTING_UP = 'Set up:';
export const LOCAL = 'The local service:';

/** The headings in the order the help shows them. */
export const HEADINGS: readonly string[] = [RUNNING, LOOKING, SETTING_UP, LOCAL];
