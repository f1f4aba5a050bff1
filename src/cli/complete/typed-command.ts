import {
  type CommandSpec,
  type CommandTable,
  type CompletionSource,
  type FlagSpec,
  getCommandName,
  listSubcommands,
} from '../core/command-spec.ts';

/** The finished words of a command line, parsed. */
export interface TypedCommand {
  /** The command, or the group without its verb; undefined for the root. */
  readonly command: CommandSpec | undefined;
  /** The commands that the next word may name. */
  readonly subcommands: readonly CommandSpec[];
  /** Every flag that may follow. */
  readonly flags: readonly Flag[];
  /** The values of the flags so far, by long name. */
  readonly flagValues: ReadonlyMap<string, readonly string[]>;
  /** The arguments so far. */
  readonly operands: readonly string[];
  /** The flag that the next word is the value of. */
  readonly openFlag: Flag | undefined;
  /** True after `--`, which ends the flags. */
  readonly hasEndedFlags: boolean;
}

export interface Flag {
  /** The long name, such as `--out`; for flags that have none, the short name. */
  readonly name: string;
  readonly shortName: string | undefined;
  readonly description: string;
  readonly valueNeed: 'required' | 'optional' | 'none';
  readonly repeats: boolean;
  readonly completes: CompletionSource | undefined;
}

/** Reads the finished words as the parser does; undefined if they name no command. */
export function readTypedCommand(
  table: CommandTable,
  words: readonly string[],
): TypedCommand | undefined {
  const flagValues = new Map<string, string[]>();
  const operands: string[] = [];
  let command: CommandSpec | undefined;
  let flags = listAcceptedFlags(table, command);

  let openFlag: Flag | undefined;
  let hasEndedFlags = false;
  for (const word of words) {
    if (openFlag !== undefined) {
      addFlagValue(flagValues, openFlag, word);
      openFlag = undefined;
    } else if (word === '--' && !hasEndedFlags) {
      hasEndedFlags = true;
    } else if (isFlag(word) && !hasEndedFlags) {
      openFlag = recordFlag(word, flags, flagValues);
    } else {
      const subcommand = operands.length === 0 ? findSubcommand(table, command, word) : undefined;
      if (subcommand === undefined) {
        if (!takesArguments(table, command)) return undefined;
        operands.push(word);
        continue;
      }

      command = subcommand;
      flags = listAcceptedFlags(table, command);
    }
  }

  const subcommands = operands.length === 0 ? listSubcommands(table, command?.path ?? '') : [];
  return {
    command,
    subcommands,
    flags,
    flagValues,
    operands,
    openFlag,
    hasEndedFlags,
  };
}

/** Returns the subcommand with that name or alias, of a command or of the root. */
export function findSubcommand(
  table: CommandTable,
  command: CommandSpec | undefined,
  word: string,
): CommandSpec | undefined {
  return listSubcommands(table, command?.path ?? '').find(
    candidate => getCommandName(candidate) === word || candidate.aliases?.includes(word) === true,
  );
}

/**
 * Returns true if a command takes arguments itself: a group, such as `batch`, may have both
 * arguments and verbs.
 */
function takesArguments(table: CommandTable, command: CommandSpec | undefined): boolean {
  const hasVerbs = listSubcommands(table, command?.path ?? '').length > 0;
  return !hasVerbs || command?.arguments?.some(([name]) => name.startsWith('<')) === true;
}

/** Returns the flag of a word that also contains its value: `--flag=value`, `-fvalue`. */
export function findFlagWithValue(
  word: string,
  flags: readonly Flag[],
): { readonly flag: Flag; readonly prefix: string } | undefined {
  const isLong = word.startsWith('--');
  const nameEnd = isLong ? word.indexOf('=') : 2;
  if (nameEnd < 0 || word.length <= 2) return undefined;

  const name = word.slice(0, nameEnd);
  const flag = flags.find(
    candidate =>
      candidate.valueNeed !== 'none' && (isLong ? candidate.name : candidate.shortName) === name,
  );
  return flag === undefined
    ? undefined
    : { flag, prefix: word.slice(0, isLong ? nameEnd + 1 : nameEnd) };
}

export function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

/** Records a flag with its value, if the word has one; returns the flag if the next word is its value. */
function recordFlag(
  word: string,
  flags: readonly Flag[],
  flagValues: Map<string, string[]>,
): Flag | undefined {
  const flagWithValue = findFlagWithValue(word, flags);
  if (flagWithValue !== undefined) {
    addFlagValue(flagValues, flagWithValue.flag, word.slice(flagWithValue.prefix.length));
    return undefined;
  }

  const flag = flags.find(({ name, shortName }) => name === word || shortName === word);
  if (flag?.valueNeed === 'required') return flag;

  if (flag !== undefined) addFlagValue(flagValues, flag, '');
  return undefined;
}

function addFlagValue(flagValues: Map<string, string[]>, { name }: Flag, value: string): void {
  flagValues.set(name, [...(flagValues.get(name) ?? []), value]);
}

const HELP_FLAG: FlagSpec = ['-h, --help', 'explain the command'];
const VERSION_FLAG: FlagSpec = ['-V, --version', 'print the version'];

function listAcceptedFlags(
  { globalFlags }: CommandTable,
  command: CommandSpec | undefined,
): Flag[] {
  return [...(command?.flags ?? []), ...globalFlags, VERSION_FLAG, HELP_FLAG].map(toFlag);
}

function toFlag([flags, description, traits = {}]: FlagSpec): Flag {
  const names = flags.match(/--?[\w-]+/gu) ?? [];
  const name = names.find(spelling => spelling.startsWith('--')) ?? names[0] ?? '';
  const shortName = names.find(spelling => !spelling.startsWith('--'));
  const { repeats = false, choices } = traits;

  return {
    name,
    shortName,
    description,
    valueNeed: getValueNeed(flags),
    repeats,
    completes: findCompletionKind(flags, traits.completes ?? choices),
  };
}

/** Returns how much a flag such as `--out <file>` needs a value. */
function getValueNeed(flags: string): Flag['valueNeed'] {
  if (flags.endsWith('>')) return 'required';
  return flags.endsWith(']') ? 'optional' : 'none';
}

/** The sources of values, by the placeholders in flags and arguments. */
const SOURCES_BY_PLACEHOLDER: Readonly<Record<string, CompletionSource>> = {
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

/**
 * Returns the kind of value of a flag or argument, such as `--out <file>` or `[run...]`; the
 * command's own declaration wins.
 */
export function findCompletionKind(
  usage: string,
  declaredSource: CompletionSource | undefined,
): CompletionSource | undefined {
  if (declaredSource !== undefined) return declaredSource;

  const [, placeholder = ''] = /[<[]([^>\].]+)/u.exec(usage) ?? [];
  return SOURCES_BY_PLACEHOLDER[placeholder];
}
