import type { Command, CommanderError } from 'commander';
import { nearestOfAll } from '../core/nearest.ts';
import { type CliError, usageError } from '../errors.ts';

/** Parsing ended because help or the version was shown: a success. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';
}

const SHOWN = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

/** Turns the end of commander's parsing into our own errors. */
export function throwParsingEnd(command: Command, error: CommanderError): never {
  if (SHOWN.has(error.code)) throw new HelpShown();
  throw wrongUsage(command, error);
}

/** Help of a command that doesn't exist would be the help of its parent: says that it doesn't exist instead. */
export function refuseUnknownCommand(command: Command & { unknownCommand?: () => void }): void {
  const [word] = command.args;
  if (word === undefined || word.startsWith('-') || command.commands.length === 0) return;
  command.unknownCommand?.();
}

/** The words that call a command, and what may follow them. */
export function usageOf(command: Command): string {
  return `${pathOf(command)} ${command.usage()}`;
}

function wrongUsage(command: Command, { code, message }: CommanderError): CliError {
  const [what = ''] = message.replace(/^error: /, '').split('\n');
  const meant = nearestOfAll(/'(.*)'/.exec(what)?.[1] ?? '', knownInsteadOf(code, command));
  return usageError(
    what.replace(/\.$/, '') + (meant === undefined ? '' : `; did you mean ${meant}?`),
    `Usage: ${usageOf(command)}`,
    `See: ${pathOf(command)} --help`,
  );
}

/** What may have been meant by a word that is not known. */
function knownInsteadOf(code: string, command: Command): string[] {
  const help = command.createHelp();
  if (code === 'commander.unknownCommand') return help.visibleCommands(command).map(one => one.name());
  if (code !== 'commander.unknownOption') return [];
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.flatMap(({ long }) => long ?? []);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
