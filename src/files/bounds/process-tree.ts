import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProgramStart, programLine } from '../program-line.ts';
import { endGroupOf } from './process-groups.ts';
import { endOrphans, endTree, type Lifetime } from './windows-processes.ts';

/** How a program ended: one of the two is null. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The process that a tree began with, and when, in milliseconds since 1970. */
export type TreeRoot = Omit<Lifetime, 'ended'>;

/** A program that runs, with everything that it starts. */
export class ProcessTree {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** How the program ends by itself or by `end`; rejects if it could not be started. */
  readonly ended: Promise<ProgramEnd>;
  readonly #env: ProgramStart['env'];
  readonly #mark: string;
  readonly #began = Date.now();
  #endedAt: number | undefined;
  #ending: Promise<void> | undefined;

  /**
   * Starts a program without a shell, in a group of its own on systems that have groups.
   *
   * @param mark a variable of its environment whose value no other program has: what leaves the group has it as well
   * @throws {UnsafeArgument} and what starting it throws
   */
  constructor(start: ProgramStart, mark: string) {
    const { file, args, isQuoted } = programLine(start);
    this.#env = start.env;
    this.#mark = `${mark}=${start.env[mark]}`;
    this.child = spawn(file, args, {
      cwd: start.directory,
      env: { ...start.env },
      stdio: 'pipe',
      // On Windows, only a child that is not detached ends with this process, however that ends.
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: isQuoted,
    });
    // It need not read its input.
    this.child.stdin.on('error', () => {});
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('exit', (code, signal) => {
        this.#endedAt = Date.now();
        resolve({ code, signal });
      });
    });
    // Whoever waits for it learns of the fault.
    this.ended.catch(() => {});
  }

  /** What a later process needs to end what is left of this tree; undefined if it was not started. */
  get root(): TreeRoot | undefined {
    const { pid } = this.child;
    return pid === undefined ? undefined : { pid, began: this.#began };
  }

  /** Ends the program and what it started, also what it left running when it ended by itself. Never rejects. */
  end(): Promise<void> {
    this.#ending ??= this.#endAll(this.child.pid);
    return this.#ending;
  }

  async #endAll(pid: number | undefined): Promise<void> {
    if (pid === undefined) return;
    if (process.platform === 'win32') await this.#endOnWindows(pid);
    else await this.#endGroup(pid);
  }

  async #endOnWindows(pid: number): Promise<void> {
    if (this.#endedAt === undefined) {
      await endTree(pid, this.#env);
      this.child.kill('SIGKILL');
    } else {
      await endOrphans({ pid, began: this.#began, ended: this.#endedAt }, this.#env);
    }
  }

  /** On Linux, what has left the group still has the mark in its environment. */
  async #endGroup(pid: number): Promise<void> {
    kill(-pid);
    await endMarked(this.#mark);
  }
}

/** A tree whose process was killed before it could end it. */
export interface LeftTree {
  /** `NAME=value` of its environment. */
  readonly mark: string;
  /** Undefined if the process was killed before it could write it down. */
  readonly root: TreeRoot | undefined;
  /** The latest time at which it can have been killed, in milliseconds since 1970. */
  readonly killed: number;
}

/** Ends what is left of a tree, as far as the system can still tell. Never rejects. */
export async function endLeftTree(
  { mark, root, killed }: LeftTree,
  env: ProgramStart['env'],
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform === 'linux') await endMarked(mark);
  else if (root !== undefined && platform === 'win32') await endOrphans({ ...root, ended: killed }, env);
  else if (root !== undefined) await endGroupOf({ ...root, ended: killed });
}

/** Ends what still has a mark in its environment, on systems that show it. @param mark `NAME=value` */
async function endMarked(mark: string): Promise<void> {
  // What is just being started shows no environment yet: it is over once two looks in a row find nothing.
  for (let look = 0, quiet = 0; look < MOST_LOOKS && quiet < 2; look += 1) {
    if (look > 0) await delay(BETWEEN_LOOKS_MS);
    const left = await processesWith(mark);
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
