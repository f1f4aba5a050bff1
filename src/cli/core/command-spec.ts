/** A command as plain data: parsing, help, completion and the reference are made from it. */
export interface CommandSpec {
  /**
   * The words that call it, such as `runs list`. The path of a subcommand begins with that of its
   * parent.
   */
  readonly path: string;
  /** Other names for its last word. */
  readonly aliases?: readonly string[];
  /** The summary in its parent's help. */
  readonly summary: string;
  /** The heading in the root's help. */
  readonly heading?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly flags?: readonly FlagSpec[];
  /** Command lines without a leading `promptrun`. */
  readonly examples: readonly string[];
  /** The text below the examples in help; a function makes it only when help is shown. */
  readonly notes?: string | (() => string);
  readonly hidden?: true;
}

/** An argument such as `<target>` (required) or `[run...]` (optional, repeated). */
export type ArgumentSpec = readonly [name: string, description: string, traits?: ArgumentTraits];

export interface ArgumentTraits {
  /** The source of its completion; default by its name. */
  readonly completes?: CompletionSource;
}

/** A flag such as `-i, --input <key=value>`. */
export type FlagSpec = readonly [flags: string, description: string, traits?: FlagTraits];

export interface FlagTraits extends ArgumentTraits {
  /** The only values it takes. */
  readonly choices?: readonly string[];
  /** True if it is repeatable, so that its value is a list. */
  readonly repeats?: true;
  readonly default?: string;
  readonly required?: true;
  /** The flag that excludes it. */
  readonly conflicts?: string;
}

/** The source of completion for a flag or argument, or the values themselves. */
export type CompletionSource =
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

/** The types of a command's arguments and flags. */
export type InputOf<S extends CommandSpec> = [
  ...ArgumentsOf<S['arguments'] extends readonly ArgumentSpec[] ? S['arguments'] : readonly []>,
  flags: FlagsOf<S['flags'] extends readonly FlagSpec[] ? S['flags'] : readonly []>,
];

type ArgumentsOf<A extends readonly ArgumentSpec[]> = {
  -readonly [I in keyof A]: ArgumentValue<A[I][0]>;
};

type ArgumentValue<Name extends string> = Name extends `${string}...${string}`
  ? readonly string[]
  : Name extends `<${string}`
    ? string
    : string | undefined;

/** The types of declared flags by name: `--no-wait` is `wait`, true by default. */
export type FlagsOf<F extends readonly FlagSpec[]> = {
  readonly [S in F[number] as IsAlwaysThere<S> extends true ? NameOf<S[0]> : never]: FlagValue<S>;
} & {
  readonly [S in F[number] as IsAlwaysThere<S> extends true ? never : NameOf<S[0]>]?: FlagValue<S>;
};

/** The text after the dashes of the long name, such as `input <key=value>`. */
type LongFlagName<Flags extends string> = Flags extends `${string}--${infer Rest}` ? Rest : never;

type NameOf<Flags extends string> =
  LongFlagName<Flags> extends `no-${infer Name}`
    ? CamelCase<FirstWord<Name>>
    : CamelCase<FirstWord<LongFlagName<Flags>>>;

type FirstWord<Text extends string> = Text extends `${infer Word} ${string}` ? Word : Text;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type IsAlwaysThere<S extends FlagSpec> =
  LongFlagName<S[0]> extends `no-${string}`
    ? true
    : S[2] extends
          | { readonly repeats: true }
          | { readonly default: string }
          | { readonly required: true }
      ? true
      : false;

type FlagValue<S extends FlagSpec> = S[2] extends { readonly repeats: true }
  ? readonly OneValue<S>[]
  : LongFlagName<S[0]> extends `${string} <${string}`
    ? OneValue<S>
    : LongFlagName<S[0]> extends `${string} [${string}`
      ? OneValue<S> | true
      : boolean;

type OneValue<S extends FlagSpec> = S[2] extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : string;

/** All commands in the order of help, and the flags that each takes. */
export interface CommandTable {
  readonly commands: readonly CommandSpec[];
  readonly globalFlags: readonly FlagSpec[];
}

/** Returns the direct subcommands of a command; those of the root for an empty path. */
export function listSubcommands<C extends CommandSpec>(
  { commands }: { readonly commands: readonly C[] },
  path: string,
): C[] {
  return commands.filter(
    command => command.path.split(' ').slice(0, -1).join(' ') === path && command.hidden !== true,
  );
}

/** Returns the last word of a command's path. */
export function getCommandName({ path }: CommandSpec): string {
  return path.split(' ').at(-1) ?? path;
}
