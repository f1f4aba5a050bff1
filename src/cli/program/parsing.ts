import type { Command, CommanderError } from 'commander';
import { nearest } from '../../files/nearest.ts';
import type { FlagSpec } from '../core/command-spec.ts';
import { parseDuration } from '../core/time.ts';
import type { GlobalOptions } from '../core/types.ts';
import { type CliError, usageError } from '../errors.ts';
import { shellWord } from '../terminal/shell-word.ts';

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
  const [first = ''] = command.args;
  const isUnknownVerb = code === 'commander.excessArguments' && isGroup(command);
  const [what = ''] = isUnknownVerb
    ? [`unknown command '${first}'`]
    : message.replace(/^error: /, '').split('\n');
  const word = /'(.*)'/.exec(what)?.[1] ?? '';
  const candidates = knownInsteadOf(isUnknownVerb ? 'commander.unknownCommand' : code, command);
  const suggestion = suggestionFor(word, candidates);
  const isUnknownCommand = code === 'commander.unknownCommand' && command.parent === null;
  return usageError(
    what.replace(/\.$/, '') + suggestion,
    ...inputMeant(code, command),
    `Usage: ${usageOf(command)}`,
    `See: ${pathOf(command)} --help`,
    ...(isUnknownCommand && suggestion === ''
      ? [`If ${shellWord(word)} is a prompt: promptrun run ${shellWord(word)}`]
      : []),
  );
}

/** Whether it has commands below it, and takes no arguments itself. */
function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** The known command or flag that is near; the dashes of a flag count for nothing. */
function suggestionFor(word: string, candidates: readonly string[]): string {
  const bare = new Map(candidates.map(name => [name.replace(/^-+/, ''), name]));
  const meant = nearest(word.replace(/^-+/, ''), [...bare.keys()]);
  return meant === undefined ? '' : `; did you mean ${bare.get(meant) ?? meant}?`;
}

/** What may have been meant by a word that is not known. */
function knownInsteadOf(code: string, command: Command): string[] {
  if (code === 'commander.unknownCommand') {
    return command
      .createHelp()
      .visibleCommands(command)
      .flatMap(one => [one.name(), ...one.aliases()]);
  }
  if (code !== 'commander.unknownOption') return [];
  const options = [...command.options, ...rootOf(command).options].filter(option => !option.hidden);
  return [...options.flatMap(({ long }) => long ?? []), '--help'];
}

/** Inputs written like arguments: `run hello Ada`, `run hello name=Ada`. */
function inputMeant(code: string, command: Command): string[] {
  if (code !== 'commander.excessArguments' || command.parent?.parent !== null) return [];
  const extra = command.args.slice(command.registeredArguments.length);
  if (!command.options.some(({ long }) => long === '--input') || command.name() === 'api') return [];
  const [first = ''] = extra;
  const inputs = extra.map(word => ` -i ${shellWord(word.includes('=') ? word : `<input>=${word}`)}`);
  return [
    first.includes('=')
      ? `An input is given with -i: promptrun ${command.name()} ${shellWord(command.args[0] ?? '')}${inputs.join('')}`
      : `An input is given with its name: promptrun ${command.name()} ${shellWord(command.args[0] ?? '')} -i <input>=${shellWord(first)}`,
  ];
}

/** The command that all others stand below. */
export function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The flags every command takes; declared on the root, they are understood anywhere on the line. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  ['--profile <name>', 'use this profile', { completes: 'profiles' }],
  ['--base-url <url>', 'use the service at this address'],
  ['--insecure-http', 'allow plain http, in which the key is readable'],
  ['--json', 'print JSON, and errors as JSON'],
  ['--query <jmespath>', 'what this expression selects; implies --json'],
  ['-q, --quiet', 'no notes, errors only'],
  ['--debug', 'print requests and answers; --debug=body: bodies too'],
  ['--timeout <duration>', 'give up waiting after this time, such as 90s, 10m or 1h'],
  ['--record <dir>', 'keep each run with its answer in this directory'],
  ['--replay <dir>', 'send nothing: answer from what --record kept'],
  ['--allow-outside', 'a prompt or test file may name files outside its folder'],
  ['--allow-private', 'allow images at private addresses and unknown names'],
  ['--no-color', 'no colours'],
  ['--no-input', 'never ask'],
  ['--no-spinner', 'plain lines instead of a spinner'],
  ['--no-pager', 'no pager for long results'],
];

/** `--debug=body` as a flag of its own: one with an optional value would take the next word for it. */
export function withDebugBody(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => (word === '--debug=body' && (end < 0 || at < end) ? '--debug-body' : word));
}

/** The global flags as parsed, and where the command's models come from. @throws {CliError} USAGE_ERROR for a wrong duration */
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

/** What is left out where it is not given; commander itself sets the flags that begin with `--no-`. */
const SWITCHES = {
  insecureHttp: false,
  allowOutside: false,
  allowPrivate: false,
  json: false,
  quiet: false,
  debug: false,
  debugBody: false,
};

/** Whether errors are wanted as JSON, read from the bare arguments: the parsing itself may be what failed. */
export function wantsJsonErrors(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.some(flag => flag === '--json' || flag === '--query' || flag.startsWith('--query='));
}
