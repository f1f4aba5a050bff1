import {
  type CommandSpec,
  type CommandTable,
  type Completes,
  commandsBelow,
  type FlagSpec,
  nameOf,
} from '../core/command-spec.ts';

/** What is known of a command line from its finished words. */
export interface Call {
  /** The command, or the group whose verb is missing; undefined for the root. */
  readonly command: CommandSpec | undefined;
  /** The commands that the next word may name. */
  readonly below: readonly CommandSpec[];
  /** Every flag that may follow. */
  readonly flags: readonly Flag[];
  /** The flags given, by their long name, with their values. */
  readonly flagValues: ReadonlyMap<string, readonly string[]>;
  /** The command's arguments so far. */
  readonly operands: readonly string[];
  /** The flag whose value the next word is. */
  readonly open: Flag | undefined;
  /** Whether `--` ended the flags. */
  readonly onlyOperands: boolean;
}

export interface Flag {
  /** The long name, or the short one if there is no other. */
  readonly name: string;
  readonly short: string | undefined;
  readonly description: string;
  readonly value: 'required' | 'optional' | 'none';
  readonly repeats: boolean;
  readonly completes: Completes | undefined;
}

/** Reads the finished words as the parser will; undefined if they lead to no command. */
export function readCall(table: CommandTable, words: readonly string[]): Call | undefined {
  const flagValues = new Map<string, string[]>();
  const operands: string[] = [];
  let command: CommandSpec | undefined;
  let flags = flagsOf(table, command);
  let open: Flag | undefined;
  let onlyOperands = false;
  for (const word of words) {
    if (open !== undefined) {
      note(flagValues, open, word);
      open = undefined;
    } else if (word === '--' && !onlyOperands) {
      onlyOperands = true;
    } else if (isFlag(word) && !onlyOperands) {
      open = readFlag(word, flags, flagValues);
    } else {
      const next = operands.length === 0 ? verbOf(table, command, word) : undefined;
      if (next === undefined) {
        if (!takesArguments(table, command)) return undefined;
        operands.push(word);
        continue;
      }
      command = next;
      flags = flagsOf(table, command);
    }
  }
  const below = operands.length === 0 ? commandsBelow(table, command?.path ?? '') : [];
  return { command, below, flags, flagValues, operands, open, onlyOperands };
}

/** The command of that name or alias right below another one, or below the root. */
export function verbOf(
  table: CommandTable,
  command: CommandSpec | undefined,
  word: string,
): CommandSpec | undefined {
  return commandsBelow(table, command?.path ?? '').find(
    one => nameOf(one) === word || one.aliases?.includes(word) === true,
  );
}

/** Whether a word may be an argument of the command itself: a group, such as `batch`, may have both arguments and verbs. */
function takesArguments(table: CommandTable, command: CommandSpec | undefined): boolean {
  const hasVerbs = commandsBelow(table, command?.path ?? '').length > 0;
  return !hasVerbs || command?.arguments?.some(([name]) => name.startsWith('<')) === true;
}

/** The flag that a word names and gives a value to in one: `--flag=value`, `-fvalue`. */
export function flagWithValue(
  word: string,
  flags: readonly Flag[],
): { readonly flag: Flag; readonly prefix: string } | undefined {
  const long = word.startsWith('--');
  const at = long ? word.indexOf('=') : 2;
  if (at < 0 || word.length <= 2) return undefined;
  const name = word.slice(0, at);
  const flag = flags.find(one => one.value !== 'none' && (long ? one.name : one.short) === name);
  return flag === undefined ? undefined : { flag, prefix: word.slice(0, long ? at + 1 : at) };
}

export function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

/** Notes a flag and gives it back if its value is still to come. */
function readFlag(word: string, flags: readonly Flag[], flagValues: Map<string, string[]>): Flag | undefined {
  const carried = flagWithValue(word, flags);
  if (carried !== undefined) note(flagValues, carried.flag, word.slice(carried.prefix.length));
  const flag = flags.find(({ name, short }) => name === word || short === word);
  if (flag?.value === 'required') return flag;
  if (flag !== undefined) note(flagValues, flag, '');
  return undefined;
}

function note(flagValues: Map<string, string[]>, { name }: Flag, value: string): void {
  flagValues.set(name, [...(flagValues.get(name) ?? []), value]);
}

const HELP: FlagSpec = ['-h, --help', 'explain the command'];
const VERSION: FlagSpec = ['-V, --version', 'print the version'];

function flagsOf({ globalFlags }: CommandTable, command: CommandSpec | undefined): Flag[] {
  return [...(command?.flags ?? []), ...globalFlags, VERSION, HELP].map(flagOf);
}

function flagOf([flags, description, traits = {}]: FlagSpec): Flag {
  const names = flags.match(/--?[\w-]+/gu) ?? [];
  const name = names.find(one => one.startsWith('--')) ?? names[0] ?? '';
  const short = names.find(one => !one.startsWith('--'));
  const value = flags.endsWith('>') ? 'required' : flags.endsWith(']') ? 'optional' : 'none';
  const { repeats = false, choices } = traits;
  return {
    name,
    short,
    description,
    value,
    repeats,
    completes: completesOf(flags, traits.completes ?? choices),
  };
}

/** What a value may be, by what stands for it in the usage. */
const PLACEHOLDERS: Readonly<Record<string, Completes>> = {
  dir: 'files',
  file: 'files',
  'file|url': 'files',
  key: 'settingKeys',
  model: 'models',
  models: 'models',
  prompt: 'targets',
  results: 'files',
  run: 'runs',
  runId: 'runs',
  slug: 'prompts',
  target: 'targets',
  topic: 'helpTopics',
  value: 'settingValues',
  version: 'versions',
};

/** What a flag or an argument may be, such as `--out <file>` or `[run...]`; the command's own word for it wins. */
export function completesOf(usage: string, own: Completes | undefined): Completes | undefined {
  const [, placeholder = ''] = /[<[]([^>\].]+)/u.exec(usage) ?? [];
  return own ?? PLACEHOLDERS[placeholder];
}
