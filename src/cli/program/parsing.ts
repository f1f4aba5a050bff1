import type { Command, CommanderError } from 'commander';
import { nearest, suggest } from '../../files/nearest.ts';
import type { FlagSpec } from '../core/command-spec.ts';
import { parseDuration } from '../core/time.ts';
import type { GlobalOptions } from '../core/types.ts';
import { type CliError, usageError } from '../errors.ts';
import { shellWord } from '../terminal/command-line.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** Parsing ended because help or the version was shown, which is a success. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';
}

const HELP_CODES = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

/** Turns commander's errors into our own. */
export function throwParsingEnd(command: Command, error: CommanderError): never {
  if (HELP_CODES.has(error.code)) throw new HelpShown();
  throw wrongUsage(command, error);
}

/** Refuses an unknown command, for which commander would show the help of its parent. */
export function refuseUnknownCommand(command: Command & { unknownCommand?: () => void }): void {
  const [word] = command.args;
  if (word === undefined || word.startsWith('-') || command.commands.length === 0) return;
  command.unknownCommand?.();
}

/** Returns the usage line of a command. */
export function usageLine(command: Command): string {
  return `${commandPath(command)} ${command.usage()}`;
}

function wrongUsage(command: Command, { code, message }: CommanderError): CliError {
  const [first = ''] = command.args;
  const hasExcess = code === 'commander.excessArguments';
  const isUnknownVerb = hasExcess && isGroup(command);
  // The value of an unknown flag may be a secret.
  const shown = message.replace(/^error: /, '').replace(/^(unknown option '[^=]+)=[^]*/, "$1'");
  let [what = ''] = shown.split('\n');
  if (isUnknownVerb) what = `unknown command '${first}'`;
  else if (hasExcess) what = `too many arguments: ${oneLine(excessArguments(command).join(' '))}`;
  const word = /'(.*)'/.exec(what)?.[1] ?? '';
  const candidates = knownInsteadOf(isUnknownVerb ? 'commander.unknownCommand' : code, command);
  const suggestion = suggestionFor(word, candidates);
  const isUnknownCommand = code === 'commander.unknownCommand' && command.parent === null;
  return usageError(
    candidates.includes(word) ? `${word} takes no value` : what.replace(/\.$/, '') + suggestion,
    ...flagMeant(code, command),
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

/** Returns hints on an unknown word: the similar commands or flags. */
function knownInsteadOf(code: string, command: Command): string[] {
  if (code === 'commander.unknownCommand') {
    return command
      .createHelp()
      .visibleCommands(command)
      .flatMap(subcommand => [subcommand.name(), ...subcommand.aliases()]);
  }
  if (code !== 'commander.unknownOption') return [];
  const options = [...command.options, ...rootOf(command).options].filter(option => !option.hidden);
  return [...options.flatMap(({ long }) => long ?? []), '--help'];
}

function excessArguments(command: Command): string[] {
  return command.args.slice(command.registeredArguments.length);
}

/** Returns hints for inputs and users that were written as arguments: `run hello name=Ada`, `keys create ada`. */
function flagMeant(code: string, command: Command): string[] {
  if (code !== 'commander.excessArguments') return [];
  const extra = excessArguments(command);
  if (command.options.some(({ long }) => long === '--user'))
    return [`A user is given with --user: ${commandPath(command)} --user ${shellWord(extra[0] ?? '')}`];
  if (command.parent?.parent !== null) return [];
  if (!command.options.some(({ long }) => long === '--input') || command.name() === 'api') return [];
  const [first = ''] = extra;
  if (first.startsWith('-')) return [];
  const start = `promptrun ${command.name()} ${shellWord(command.args[0] ?? '')}`;
  if (!first.includes('=') && command.options.some(({ long }) => long === '--from')) {
    return [`The rows are given with --from: ${start} --from ${shellWord(first)}`];
  }
  const inputs = extra.map(word => ` -i ${shellWord(word.includes('=') ? word : `<input>=${word}`)}`);
  return [
    first.includes('=')
      ? `An input is given with -i: ${start}${inputs.join('')}`
      : `An input is given with its name: ${start} -i <input>=${shellWord(first)}`,
  ];
}

/** Returns the root of the command tree. */
export function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** The flags of every command; declared on the root, they work anywhere on the line. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  ['--profile <name>', 'use this profile', { completes: 'profiles' }],
  ['--base-url <url>', 'use the service at this address'],
  ['--insecure-http', 'allow plain http, which exposes the key'],
  ['--json', 'print JSON, and errors as JSON'],
  ['--query <jmespath>', 'print only what this expression selects; implies --json'],
  ['-q, --quiet', 'print errors but no notes'],
  ['--debug', 'print requests and answers; --debug=body also prints bodies'],
  ['--timeout <duration>', 'give up waiting after this time, such as 90s, 10m or 1h'],
  ['--record <dir>', 'record each run and its answer in this directory'],
  ['--replay <dir>', 'send nothing; answer from recordings of --record'],
  ['--allow-outside', 'allow a prompt or test file to name files outside its folder'],
  ['--allow-private', "allow images from private addresses and names that can't be resolved"],
  ['--no-color', 'print no colours'],
  ['--no-input', 'ask no questions'],
  ['--no-spinner', 'print plain lines instead of a spinner'],
  ['--no-pager', 'use no pager for long results'],
];

/** Replaces `--debug=body` by a flag of its own, because a flag with an optional value would swallow the next word. */
export function withDebugBody(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) =>
    word === '--debug=body' && (end < 0 || index < end) ? '--debug-body' : word,
  );
}

/** Returns the global flags and the command's models file. @throws {CliError} USAGE_ERROR for an invalid duration */
export function globalOptions(command: Command): GlobalOptions {
  const { timeout, ...flags } = { ...SWITCHES, ...rootOf(command).opts<Parsed>() };
  const { models, modelsFrom = models } = command.opts<{ models?: unknown; modelsFrom?: unknown }>();
  return {
    ...flags,
    ...(typeof modelsFrom === 'string' && { models: modelsFrom }),
    debug: flags.debug || flags.debugBody,
    ...(timeout !== undefined && { timeoutMs: parseDuration(timeout, '--timeout') }),
  };
}

type Parsed = Omit<GlobalOptions, 'timeoutMs'> & { readonly timeout?: string };

/** The defaults of switches; commander itself sets the flags that begin with `--no-`. */
const SWITCHES = {
  insecureHttp: false,
  allowOutside: false,
  allowPrivate: false,
  json: false,
  quiet: false,
  debug: false,
  debugBody: false,
};

/** Returns true if errors are wanted as JSON. Reads the raw argv, because parsing itself may have failed. */
export function wantsJsonErrors(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.some(flag => flag === '--json' || flag === '--query' || flag.startsWith('--query='));
}
