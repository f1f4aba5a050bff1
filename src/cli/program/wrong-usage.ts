import type { Command, CommanderError } from 'commander';
import { findNearestName, formatSuggestion } from '../../utils/nearest-name.ts';
import { type CliError, usageError } from '../core/errors.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { quoteIfNeeded } from '../terminal/shell-words.ts';
import { getRootCommand } from './global-flags.ts';

/** Parsing ended because help or the version was shown, which is a success. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';
}

const UNKNOWN_COMMAND = 'commander.unknownCommand';
const UNKNOWN_OPTION = 'commander.unknownOption';
const EXCESS_ARGUMENTS = 'commander.excessArguments';
const HELP_CODES = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

/** Turns commander's errors into our own. */
export function throwParsingEnd(command: Command, error: CommanderError): never {
  if (HELP_CODES.has(error.code)) throw new HelpShown();
  throw toUsageError(command, error);
}

export function formatUsageLine(command: Command): string {
  return `${getCommandPath(command)} ${command.usage()}`;
}

function toUsageError(command: Command, error: CommanderError): CliError {
  const code = findErrorCode(command, error);
  const message = formatUsageMessage(command, code, error.message);
  const word = /'(.*)'/.exec(message)?.[1] ?? '';
  const candidates = listCorrectNames(code, command);
  const suggestion = suggestName(word, candidates);
  const hasSuggestion = suggestion !== '';

  const hints: string[] = [];
  if (code === EXCESS_ARGUMENTS) hints.push(...listExcessHints(command));
  if (code === UNKNOWN_OPTION && !hasSuggestion) hints.push(...listInputHints(word, command));
  hints.push(`Usage: ${formatUsageLine(command)}`, `See: ${getCommandPath(command)} --help`);

  if (code === UNKNOWN_COMMAND && !hasSuggestion && command.parent === null) {
    hints.push(`If ${quoteIfNeeded(word)} is a prompt: promptrun run ${quoteIfNeeded(word)}`);
  }

  return usageError(
    candidates.includes(word) ? `${word} takes no value` : message + suggestion,
    ...hints,
  );
}

/**
 * Returns the code of an error; for commander, an unknown subcommand is an argument too many of its
 * parent.
 */
function findErrorCode(command: Command, { code }: CommanderError): string {
  return code === EXCESS_ARGUMENTS && isGroup(command) ? UNKNOWN_COMMAND : code;
}

function formatUsageMessage(command: Command, code: string, commanderMessage: string): string {
  if (code === EXCESS_ARGUMENTS) {
    return `too many arguments: ${toOneLine(getExcessArguments(command).join(' '))}`;
  }

  if (code === UNKNOWN_COMMAND && isGroup(command)) {
    return `unknown command '${command.args[0] ?? ''}'`;
  }

  const [firstLine = ''] = commanderMessage
    .replace(/^error: /, '')
    // The value of an unknown flag may be a secret.
    .replace(/^(unknown option '[^=]+)=[^]*/, "$1'")
    .split('\n');
  return firstLine.replace(/\.$/, '');
}

/** Returns true if a command has subcommands and takes no arguments itself. */
function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** Suggests the most similar command or flag; ignores the dashes of a flag. */
function suggestName(word: string, candidates: readonly string[]): string {
  const byBareName = new Map(candidates.map(name => [name.replace(/^-+/, ''), name]));
  const bareName = findNearestName(word.replace(/^-+/, ''), [...byBareName.keys()]);
  return formatSuggestion(bareName && byBareName.get(bareName));
}

/** Returns the names that an unknown command or flag may be a typo of. */
function listCorrectNames(code: string, command: Command): string[] {
  if (code === UNKNOWN_COMMAND) {
    return command
      .createHelp()
      .visibleCommands(command)
      .flatMap(subcommand => [subcommand.name(), ...subcommand.aliases()]);
  }

  if (code !== UNKNOWN_OPTION) return [];
  const options = [...command.options, ...getRootCommand(command).options].filter(
    option => !option.hidden,
  );
  return [...options.flatMap(({ long }) => long ?? []), '--help'];
}

function getExcessArguments(command: Command): string[] {
  return command.args.slice(command.registeredArguments.length);
}

/**
 * Returns a hint for a user, rows or inputs that were written as arguments: `keys create ada`,
 * `run hello name=Ada`.
 */
function listExcessHints(command: Command): string[] {
  const extraWords = getExcessArguments(command);
  const [firstExtra = ''] = extraWords;
  if (hasFlag(command, '--user')) {
    return [
      `Give the user with --user: ${getCommandPath(command)} --user ${quoteIfNeeded(firstExtra)}`,
    ];
  }

  const isTopLevel = command.parent?.parent === null;
  if (!isTopLevel || !takesInputs(command) || firstExtra.startsWith('-')) return [];

  const start = `promptrun ${command.name()} ${quoteIfNeeded(command.args[0] ?? '')}`;
  if (firstExtra.includes('=')) {
    const pairs = extraWords.map(word => (word.includes('=') ? word : `<input>=${word}`));
    return [
      `Give inputs with -i: ${[start, ...pairs.map(pair => `-i ${quoteIfNeeded(pair)}`)].join(' ')}`,
    ];
  }

  return [
    hasFlag(command, '--from')
      ? `Give the rows with --from: ${start} --from ${quoteIfNeeded(firstExtra)}`
      : `Give the input with its name: ${start} -i <input>=${quoteIfNeeded(firstExtra)}`,
  ];
}

/**
 * Returns a hint for an input that was written as a flag, `run hello --topic tea`, without its
 * value, which may be a secret.
 */
function listInputHints(flag: string, command: Command): string[] {
  const [, name] = /^--([\p{L}\p{N}_-]+)$/u.exec(flag) ?? [];
  if (!takesInputs(command) || name === undefined || /key|token|secret|password/iu.test(name)) {
    return [];
  }
  return [`If ${name} is an input of the prompt, give it with -i: -i ${name}=<value>`];
}

function hasFlag(command: Command, flag: string): boolean {
  return command.options.some(({ long }) => long === flag);
}

/** Returns true if `--input` is an input of a prompt; that of `api` is a file. */
function takesInputs(command: Command): boolean {
  return hasFlag(command, '--input') && command.name() !== 'api';
}

function getCommandPath(command: Command): string {
  return command.parent === null
    ? command.name()
    : `${getCommandPath(command.parent)} ${command.name()}`;
}
