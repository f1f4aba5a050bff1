import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../../client/signals.ts';
import { messageOf } from '../../../files/error-utils.ts';
import { environmentWithoutKeys } from '../../../files/programs.ts';
import type { Env } from '../../core/types.ts';
import { usageError } from '../../errors.ts';
import type { CommandFailure } from './expectation.ts';

/** How long a program may take, in milliseconds. */
const LIMIT_MS = 30_000;
/** Characters of what it printed that are shown. */
const MOST_SHOWN = 2000;
/** How long what a program printed is waited for once nothing of it runs any more. */
const LAST_WORDS_MS = 1000;
const CASE_VARIABLE = 'PROMPTRUN_CASE';

export interface CommandOptions {
  /** Where it runs. */
  readonly directory: string;
  /** The environment of this process. */
  readonly env: Env;
  /** Variables that hold keys: it is given none of them. */
  readonly secrets: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** What a program is told of the case. */
export interface CommandCase {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** null for the prompt's own. */
  readonly model: string | null;
  readonly output: string;
}

/**
 * Runs a program on an answer: the answer on its standard input, the case in the file that PROMPTRUN_CASE names. What
 * it leaves running is ended when it ends.
 *
 * @returns undefined if it ended with 0
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
    return await started(argv, testCase.output, { ...options, env }, caseFile);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

async function started(
  [program, ...args]: readonly [string, ...string[]],
  output: string,
  { directory, env, signal }: CommandOptions,
  caseFile: string,
): Promise<CommandFailure | undefined> {
  signal.throwIfAborted();
  // A group of its own, so that it can be ended with all that it started.
  const child = spawn(program, args, { cwd: directory, env, detached: true, stdio: 'pipe' });
  const printed = new FirstCharacters(child);
  // It need not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(output);
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()));
  try {
    const end = await within(LIMIT_MS, signal, over => endOf(child, over));
    signal.throwIfAborted();
    if (end === 'ended with 0') return undefined;
    await endAll(child, caseFile);
    await Promise.race([closed, delay(LAST_WORDS_MS)]);
    return { end: end ?? `took more than ${LIMIT_MS / 1000} s`, printed: printed.text };
  } catch (error) {
    signal.throwIfAborted();
    throw usageError(`the command ${JSON.stringify(program)} can't be started: ${messageOf(error)}`);
  } finally {
    await endAll(child, caseFile);
  }
}

/** How a program ended; undefined if its time was over before. @throws what starting it throws */
function endOf(child: Child, over: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, killed) =>
      resolve(killed === null ? `ended with ${code}` : `was ended by ${killed}`),
    );
    over.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Ends a program's group, and on Linux also what has left it: that still has the case in its environment. */
async function endAll({ pid }: Child, caseFile: string): Promise<void> {
  if (pid === undefined) return;
  kill(-pid);
  // What is just being started shows no environment yet: it is over once two looks in a row find nothing.
  for (let look = 0, quiet = 0; look < MOST_LOOKS && quiet < 2; look += 1) {
    if (look > 0) await delay(BETWEEN_LOOKS_MS);
    const left = await processesWith(`${CASE_VARIABLE}=${caseFile}`);
    quiet = left.length === 0 ? quiet + 1 : 0;
    for (const one of left) kill(one);
  }
}

const MOST_LOOKS = 6;
const BETWEEN_LOOKS_MS = 20;

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function processesWith(variable: string): Promise<number[]> {
  const names = process.platform === 'linux' ? await readdir('/proc').catch(() => []) : [];
  const holders = await Promise.all(
    names
      .filter(name => /^\d+$/u.test(name))
      .map(async name => {
        const environ = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
        return environ.split('\0').includes(variable) ? [Number(name)] : [];
      }),
  );
  return holders.flat();
}

/** Keeps the beginning of what a program prints, and lets the rest go. */
class FirstCharacters {
  text = '';

  constructor({ stdout, stderr }: Child) {
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8');
      stream.on('error', () => {});
      stream.on('data', (piece: string) => {
        if (this.text.length < MOST_SHOWN) this.text = (this.text + piece).slice(0, MOST_SHOWN);
      });
    }
  }
}
