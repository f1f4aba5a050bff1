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
  /** What help says below the examples; a function puts it together only for help. */
  readonly notes?: string | (() => string);
  readonly hidden?: true;
}

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

/** The arguments and flags of a command, as its code takes them. */
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

/** The values of declared flags by their names: `--no-wait` is `wait`, and true unless it is there. */
export type FlagsOf<F extends readonly FlagSpec[]> = {
  readonly [S in F[number] as IsAlwaysThere<S> extends true ? NameOf<S[0]> : never]: FlagValue<S>;
} & {
  readonly [S in F[number] as IsAlwaysThere<S> extends true ? never : NameOf<S[0]>]?: FlagValue<S>;
};

/** What stands behind the dashes of the long name, such as `input <key=value>`. */
type Long<Flags extends string> = Flags extends `${string}--${infer Rest}` ? Rest : never;

type NameOf<Flags extends string> =
  Long<Flags> extends `no-${infer Name}` ? CamelCase<FirstWord<Name>> : CamelCase<FirstWord<Long<Flags>>>;

type FirstWord<Text extends string> = Text extends `${infer Word} ${string}` ? Word : Text;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type IsAlwaysThere<S extends FlagSpec> =
  Long<S[0]> extends `no-${string}`
    ? true
    : S[2] extends { readonly repeats: true } | { readonly default: string } | { readonly required: true }
      ? true
      : false;

type FlagValue<S extends FlagSpec> = S[2] extends { readonly repeats: true }
  ? readonly OneValue<S>[]
  : Long<S[0]> extends `${string} <${string}`
    ? OneValue<S>
    : Long<S[0]> extends `${string} [${string}`
      ? OneValue<S> | true
      : boolean;

type OneValue<S extends FlagSpec> = S[2] extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : string;

/** Every command there is, in the order help shows them, and the flags that each of them takes. */
export interface CommandTable {
  readonly commands: readonly CommandSpec[];
  readonly globalFlags: readonly FlagSpec[];
}

/** The commands right below one; below the root for an empty path. */
export function commandsBelow<C extends CommandSpec>(
  { commands }: { readonly commands: readonly C[] },
  path: string,
): C[] {
  return commands.filter(one => one.path.split(' ').slice(0, -1).join(' ') === path && one.hidden !== true);
}

/** The last of the words that call a command. */
export function nameOf({ path }: CommandSpec): string {
  return path.split(' ').at(-1) ?? path;
}
