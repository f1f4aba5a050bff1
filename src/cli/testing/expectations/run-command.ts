import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentWithoutKeys } from '../../../processes/find-program.ts';
import { ProcessTree, type ProgramEnd } from '../../../processes/process-tree.ts';
import { resultBeforeAbort, within } from '../../../utils/abort-signals.ts';
import type { Env } from '../../../utils/env.ts';
import { errorMessage } from '../../../utils/error-utils.ts';
import { usageError } from '../../errors.ts';
import type { CommandFailure } from './expectation.ts';

/** Maximum time of a program, in milliseconds. */
const CHECK_COMMAND_LIMIT_MS = 30_000;
/** Number of characters of its output to show. */
const MAX_SHOWN_VERDICT = 2000;
/** Maximum wait for a program's output after its last process has ended, in milliseconds. */
const VERDICT_GRACE_MS = 1000;
const CASE_VARIABLE = 'PROMPTRUN_CASE';

export interface CommandOptions {
  readonly directory: string;
  /** The environment of this process. */
  readonly env: Env;
  /** Variables that contain keys, which the program must not get. */
  readonly secrets: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** The facts about a case for a program. */
export interface CommandCase {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** null if it is not known on this machine. */
  readonly model: string | null;
  readonly output: string;
}

/**
 * Runs a program on an answer. The answer is on its standard input, the case in the file that PROMPTRUN_CASE names. Ends
 * processes that the program leaves running.
 *
 * @returns undefined if it exited with 0
 * @throws {CliError} USAGE_ERROR if it can't be started
 */
export async function runCommand(
  argv: readonly [string, ...string[]],
  testCase: CommandCase,
  options: CommandOptions,
): Promise<CommandFailure | undefined> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-case-'));
  try {
    const caseFile = path.join(directory, 'case.json');
    await writeFile(caseFile, JSON.stringify(testCase), { mode: 0o600 });
    const env = { ...environmentWithoutKeys(options.env, options.secrets), [CASE_VARIABLE]: caseFile };
    return await runProgram(argv, testCase.output, { ...options, env });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runProgram(
  argv: readonly [string, ...string[]],
  output: string,
  { directory, env, signal }: CommandOptions,
): Promise<CommandFailure | undefined> {
  signal.throwIfAborted();
  let tree: ProcessTree | undefined;
  try {
    tree = new ProcessTree({ argv, directory, env }, CASE_VARIABLE);
    const { child, ended } = tree;
    const printed = new OutputBeginning(child);
    child.stdin.end(output);
    const closed = new Promise<void>(resolve => child.once('close', () => resolve()));
    const end = await within(CHECK_COMMAND_LIMIT_MS, signal, over => awaitEnd(ended, over));
    signal.throwIfAborted();
    if (end === 'ended with 0') return undefined;
    await tree.end();
    await Promise.race([closed, delay(VERDICT_GRACE_MS)]);
    return { end: end ?? `took more than ${CHECK_COMMAND_LIMIT_MS / 1000} s`, printed: printed.text };
  } catch (error) {
    signal.throwIfAborted();
    throw usageError(`the command ${JSON.stringify(argv[0])} can't be started: ${errorMessage(error)}`);
  } finally {
    await tree?.end();
  }
}

/** Returns a text about the end of a program; undefined after a timeout. @throws the error of starting it */
async function awaitEnd(ended: Promise<ProgramEnd>, over: AbortSignal): Promise<string | undefined> {
  const end = await resultBeforeAbort(ended, over);
  if (end === undefined) return undefined;
  return end.signal === null ? `ended with ${end.code}` : `was ended by ${end.signal}`;
}

/** Keeps the beginning of a program's output and discards the rest. */
class OutputBeginning {
  text = '';

  constructor({ stdout, stderr }: { readonly stdout: Readable; readonly stderr: Readable }) {
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8');
      stream.on('error', () => {});
      stream.on('data', (piece: string) => {
        if (this.text.length < MAX_SHOWN_VERDICT) this.text = (this.text + piece).slice(0, MAX_SHOWN_VERDICT);
      });
    }
  }
}
