import type { Command, Option } from 'commander';
import type { Host } from '../context.ts';

/** What is known of a command line from its finished words. */
export interface Call {
  /** The command, or the group whose verb is missing, or the root. */
  readonly command: Command;
  /** The words that lead there, by their first names: `runs list`. Empty for the root. */
  readonly path: string;
  /** Every flag that may follow. */
  readonly options: readonly Option[];
  /** The flags given, by their long name, with their values. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** The command's arguments so far. */
  readonly operands: readonly string[];
  /** The flag whose value the next word is. */
  readonly open: Option | undefined;
  /** Whether `--` ended the flags. */
  readonly onlyOperands: boolean;
}

/** Reads the finished words as the parser will; undefined where they lead to no command. */
export async function readCall(
  root: Command,
  words: readonly string[],
  declare: Host['declare'],
): Promise<Call | undefined> {
  const given = new Map<string, string[]>();
  const path: string[] = [];
  const operands: string[] = [];
  let command = root;
  let open: Option | undefined;
  let onlyOperands = false;
  for (const word of words) {
    if (open !== undefined) {
      note(given, open, word);
      open = undefined;
    } else if (word === '--' && !onlyOperands) {
      onlyOperands = true;
    } else if (isFlag(word) && !onlyOperands) {
      open = readFlag(word, optionsOf(root, command), given);
    } else {
      const next = operands.length === 0 ? verbOf(command, word) : undefined;
      if (next === undefined) {
        if (!takesArguments(command)) return undefined;
        operands.push(word);
        continue;
      }
      command = next;
      path.push(next.name());
      await declare(next);
    }
  }
  const options = optionsOf(root, command);
  return { command, path: path.join(' '), options, given, operands, open, onlyOperands };
}

function verbOf(command: Command, word: string): Command | undefined {
  return command.commands.find(one => one.name() === word || one.aliases().includes(word));
}

/** Whether a word may be an argument of the command itself: a group, such as `batch`, may have both arguments and verbs. */
export function takesArguments({ commands, registeredArguments }: Command): boolean {
  return commands.length === 0 || registeredArguments.some(({ required }) => required);
}

/** The flag that a word names and gives a value to in one: `--flag=value`, `-fvalue`. */
export function flagWithValue(
  word: string,
  options: readonly Option[],
): { readonly option: Option; readonly prefix: string } | undefined {
  const long = word.startsWith('--');
  const at = long ? word.indexOf('=') : 2;
  if (at < 0 || word.length <= 2) return undefined;
  const name = word.slice(0, at);
  const option = options.find(one => takesValue(one) && (long ? one.long : one.short) === name);
  return option === undefined ? undefined : { option, prefix: word.slice(0, long ? at + 1 : at) };
}

export function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** Notes a flag and gives it back if its value is still to come. */
function readFlag(
  word: string,
  options: readonly Option[],
  given: Map<string, string[]>,
): Option | undefined {
  const carried = flagWithValue(word, options);
  if (carried !== undefined) note(given, carried.option, word.slice(carried.prefix.length));
  const option = options.find(one => one.long === word || one.short === word);
  if (option?.required === true) return option;
  if (option !== undefined) note(given, option, '');
  return undefined;
}

function note(given: Map<string, string[]>, option: Option, value: string): void {
  const name = option.long ?? option.short ?? '';
  given.set(name, [...(given.get(name) ?? []), value]);
}

function optionsOf(root: Command, command: Command): readonly Option[] {
  const own = command === root ? [] : command.options;
  const help = command.createOption('-h, --help', 'explain the command');
  return [...own, ...root.options, help].filter(option => !option.hidden);
}
