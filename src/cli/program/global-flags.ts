import type { Command } from 'commander';
import type { FlagSpec } from '../core/command-spec.ts';
import { parseDuration } from '../core/time.ts';
import type { GlobalOptions } from '../core/types.ts';
import { rootOf } from './parsing.ts';

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
