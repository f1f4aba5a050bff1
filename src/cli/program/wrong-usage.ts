import type { Command, CommanderError } from 'commander';
import { nearest, suggest } from '../../utils/nearest-name.ts';
import { type CliError, usageError } from '../core/errors.ts';
import { shellWord } from '../terminal/command-line.ts';
import { oneLine } from '../terminal/sanitise.ts';
import { rootCommand } from './global-flags.ts';

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
  throw wrongUsage(command, error);
}

export function usageLine(command: Command): string {
  return `${commandPath(command)} ${command.usage()}`;
}

function wrongUsage(command: Command, { code, message }: CommanderError): CliError {
  const [first = ''] = command.args;
  const hasExcess = code === EXCESS_ARGUMENTS;
  const isUnknownVerb = hasExcess && isGroup(command);
  // The value of an unknown flag may be a secret.
  const shown = message.replace(/^error: /, '').replace(/^(unknown option '[^=]+)=[^]*/, "$1'");
  let [what = ''] = shown.split('\n');
  if (isUnknownVerb) what = `unknown command '${first}'`;
  else if (hasExcess) what = `too many arguments: ${oneLine(excessArguments(command).join(' '))}`;
  const word = /'(.*)'/.exec(what)?.[1] ?? '';
  const candidates = correctNames(isUnknownVerb ? UNKNOWN_COMMAND : code, command);
  const suggestion = suggestionFor(word, candidates);
  const isUnknownCommand = code === UNKNOWN_COMMAND && command.parent === null;
  return usageError(
    candidates.includes(word) ? `${word} takes no value` : what.replace(/\.$/, '') + suggestion,
    ...flagHints(code, command),
    ...(code === UNKNOWN_OPTION && suggestion === '' ? inputHints(word, command) : []),
    `Usage: ${usageLine(command)}`,
    `See: ${commandPath(command)} --help`,
    ...(isUnknownCommand && suggestion === ''
      ? [`If ${shellWord(word)} is a prompt: promptrun run ${shellWord(word)}`]
      : []),
  );
}

/** Returns true if a command has subcommands and takes no arguments itself. */
function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** Returns the most similar command or flag; ignores the dashes of a flag. */
function suggestionFor(word: string, candidates: readonly string[]): string {
  const bare = new Map(candidates.map(name => [name.replace(/^-+/, ''), name]));
  const meant = nearest(word.replace(/^-+/, ''), [...bare.keys()]);
  return suggest(meant && (bare.get(meant) ?? meant));
}

/** Returns the names that an unknown command or flag may be a typo of. */
function correctNames(code: string, command: Command): string[] {
  if (code === UNKNOWN_COMMAND) {
    return command
      .createHelp()
      .visibleCommands(command)
      .flatMap(subcommand => [subcommand.name(), ...subcommand.aliases()]);
  }
  if (code !== UNKNOWN_OPTION) return [];
  const options = [...command.options, ...rootCommand(command).options].filter(option => !option.hidden);
  return [...options.flatMap(({ long }) => long ?? []), '--help'];
}

function excessArguments(command: Command): string[] {
  return command.args.slice(command.registeredArguments.length);
}

/** Returns a hint for inputs, rows and users that were written as arguments: `run hello name=Ada`, `keys create ada`. */
function flagHints(code: string, command: Command): string[] {
  if (code !== EXCESS_ARGUMENTS) return [];
  const extraArguments = excessArguments(command);
  if (command.options.some(({ long }) => long === '--user')) {
    return [
      `Give the user with --user: ${commandPath(command)} --user ${shellWord(extraArguments[0] ?? '')}`,
    ];
  }
  if (command.parent?.parent !== null) return [];
  if (!command.options.some(({ long }) => long === '--input') || command.name() === 'api') return [];
  const [firstExtra = ''] = extraArguments;
  if (firstExtra.startsWith('-')) return [];
  const start = `promptrun ${command.name()} ${shellWord(command.args[0] ?? '')}`;
  if (!firstExtra.includes('=') && command.options.some(({ long }) => long === '--from')) {
    return [`Give the rows with --from: ${start} --from ${shellWord(firstExtra)}`];
  }
  const inputs = extraArguments.map(
    word => ` -i ${shellWord(word.includes('=') ? word : `<input>=${word}`)}`,
  );
  return [
    firstExtra.includes('=')
      ? `Give inputs with -i: ${start}${inputs.join('')}`
      : `Give the input with its name: ${start} -i <input>=${shellWord(firstExtra)}`,
  ];
}

/** Returns a hint for an input that was written as a flag, `run hello --topic tea`, without its value, which may be a secret. */
function inputHints(flag: string, command: Command): string[] {
  if (command.name() === 'api' || !command.options.some(({ long }) => long === '--input')) return [];
  const [, name] = /^--([\p{L}\p{N}_-]+)$/u.exec(flag) ?? [];
  const isHint = name !== undefined && !/key|token|secret|password/iu.test(name);
  return isHint ? [`If ${name} is an input of the prompt, give it with -i: -i ${name}=<value>`] : [];
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}
