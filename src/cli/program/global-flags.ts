import type { Command } from 'commander';
import type { FlagSpec } from '../core/command-spec.ts';
import { parseDuration } from '../core/durations.ts';
import type { GlobalOptions } from '../core/global-options.ts';

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

/**
 * Replaces `--debug=body` by a separate flag, because a flag with an optional value would swallow
 * the next word.
 */
export function withDebugBody(argv: readonly string[]): string[] {
  const separatorIndex = argv.indexOf('--');
  const flagsEnd = separatorIndex < 0 ? argv.length : separatorIndex;
  return argv.map((word, index) =>
    word === '--debug=body' && index < flagsEnd ? '--debug-body' : word,
  );
}

/**
 * Moves a help flag that stands before a command behind it: `--help runs list` explains
 * `runs list`.
 */
export function withHelpLast(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === '-h' || first === '--help' ? [...rest, first] : argv;
}

/** The defaults of switches; commander itself sets the flags that begin with `--no-`. */
const SWITCH_DEFAULTS = {
  insecureHttp: false,
  allowOutside: false,
  allowPrivate: false,
  json: false,
  quiet: false,
  debug: false,
  debugBody: false,
};

/**
 * Returns the global flags and the command's models file.
 *
 * @throws {CliError} USAGE_ERROR for an invalid duration
 */
export function readGlobalOptions(command: Command): GlobalOptions {
  const parsedFlags = getRootCommand(command).opts<ParsedFlags>();
  const { timeout, ...flags } = { ...SWITCH_DEFAULTS, ...parsedFlags };
  const models = findModelsFile(command);

  return {
    ...flags,
    ...(models !== undefined && { models }),
    json: flags.json || flags.query !== undefined,
    debug: flags.debug || flags.debugBody,
    ...(timeout !== undefined && { timeoutMs: parseDuration(timeout, '--timeout') }),
  };
}

/**
 * Returns the file of `--models`; of `prompts check`, whose `--models` is a switch, that of
 * `--models-from`.
 */
function findModelsFile(command: Command): string | undefined {
  const { models, modelsFrom } = command.opts<{ models?: unknown; modelsFrom?: unknown }>();
  return [modelsFrom, models].find(file => typeof file === 'string');
}

type ParsedFlags = Omit<GlobalOptions, 'timeoutMs'> & { readonly timeout?: string };

/**
 * Returns true if errors are wanted as JSON. Reads the raw argv, because parsing itself may have
 * failed.
 */
export function wantsJsonErrors(argv: readonly string[]): boolean {
  const separatorIndex = argv.indexOf('--');
  const words = separatorIndex < 0 ? argv : argv.slice(0, separatorIndex);
  return words.some(word => word === '--json' || word === '--query' || word.startsWith('--query='));
}

export function getRootCommand(command: Command): Command {
  return command.parent === null ? command : getRootCommand(command.parent);
}
