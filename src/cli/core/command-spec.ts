import type { ExitCode } from '../exit-codes.ts';

/** A command as plain data: parsing, help, completion and the reference are made from it. */
export interface CommandSpec {
  /** The words that call it, such as `runs list`. Commands below another one begin with its path. */
  readonly path: string;
  /** Other names for its last word. */
  readonly aliases?: readonly string[];
  /** What the help of its parent says of it. */
  readonly summary: string;
  /** Under which heading the root's help shows it, or the command it stands below. */
  readonly heading?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly flags?: readonly FlagSpec[];
  /** Command lines, without `promptrun` where they begin with it. */
  readonly examples: readonly string[];
  /** What help says below the examples. */
  readonly notes?: string;
  readonly hidden?: true;
  /** Loads what it does; without it, it explains the commands below it. */
  readonly load?: () => Promise<CommandAction>;
  /** The same for what needs nothing but the command line itself. */
  readonly loadWithoutContext?: () => Promise<(...input: never[]) => Promise<void>>;
}

/** Takes the context, each argument, the flags, and commander's command. What returns nothing has succeeded: exit 0. */
export type CommandAction = (ctx: never, ...input: never[]) => Promise<ExitCode> | Promise<void>;

/** Such as `<target>`, `[run...]`: required or not, the last one repeated; completed by its name, if nothing else is said. */
export type ArgumentSpec = readonly [name: string, description: string, completes?: Completes];

/** Such as `-i, --input <key=value>`. */
export type FlagSpec = readonly [flags: string, description: string, traits?: FlagTraits];

export interface FlagTraits {
  readonly completes?: Completes;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  /** It may be given more than once: its value is a list. */
  readonly repeats?: true;
  readonly default?: string;
  readonly required?: true;
  /** The flag that can't be given beside it. */
  readonly conflicts?: string;
}

/** What the value of a flag or an argument may be: a source of completion, or the values themselves. */
export type Completes =
  | 'aliases'
  | 'files'
  | 'helpTopics'
  | 'inputs'
  | 'models'
  | 'profiles'
  | 'promptFiles'
  | 'prompts'
  | 'runOptions'
  | 'runs'
  | 'settingKeys'
  | 'settingValues'
  | 'targets'
  | 'testFiles'
  | 'versions'
  | readonly string[];

/** Every command there is, in the order help shows them, and the flags that each of them takes. */
export interface CommandTable {
  readonly commands: readonly CommandSpec[];
  readonly globalFlags: readonly FlagSpec[];
}

/** The commands right below one; below the root for an empty path. */
export function commandsBelow(table: CommandTable, path: string): CommandSpec[] {
  return table.commands.filter(
    one => one.path.split(' ').slice(0, -1).join(' ') === path && one.hidden !== true,
  );
}

/** The last of the words that call a command. */
export function nameOf({ path }: CommandSpec): string {
  return path.split(' ').at(-1) ?? path;
}
