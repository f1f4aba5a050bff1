import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcessGroup } from './process-groups.ts';
import type { Lifetime } from './process-lifetime.ts';
import { buildProgramLine, type ProgramStart } from './program-line.ts';
import { endOrphans, endTree } from './windows-processes.ts';

/** Maximum time to wait for the output of a program that has ended. */
const OUTPUT_GRACE = { waitCount: 10, waitMs: 100 } as const;

const MAX_SCANS = 6;
const BETWEEN_SCANS_MS = 20;

/** The end of a program; one of the two is null. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export function describeProgramEnd({ code, signal }: ProgramEnd): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}

/** The first process of a tree, with its start in milliseconds since 1970. */
export type TreeRoot = Omit<Lifetime, 'ended'>;

/** A running program with all processes that it starts. */
export class ProcessTree {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /**
   * Resolves when the program ends, on its own or through `end`; rejects if it could not be
   * started.
   */
  readonly whenEnded: Promise<ProgramEnd>;
  /** Resolves once it has ended and all of its output was read. */
  readonly whenClosed: Promise<void>;
  readonly #env: ProgramStart['env'];
  readonly #mark: string;
  readonly #began = Date.now();
  #endedAt: number | undefined;
  #ending: Promise<void> | undefined;

  /**
   * Starts a program without a shell, in its own process group if the system has groups.
   *
   * @param markVariable an environment variable with a unique value, which identifies processes that have
   * left the group
   * @throws {UnsafeArgumentError} or errors of starting it
   */
  constructor(start: ProgramStart, markVariable: string) {
    const { file, args, isQuoted } = buildProgramLine(start);
    this.#env = start.env;
    this.#mark = `${markVariable}=${start.env[markVariable]}`;
    this.child = spawn(file, args, {
      cwd: start.directory,
      env: { ...start.env },
      stdio: 'pipe',
      // On Windows, only a child that is not detached ends with this process, however that ends.
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: isQuoted,
    });

    // The program may not read its input.
    this.child.stdin.on('error', () => {});

    this.whenEnded = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('exit', (code, signal) => {
        this.#endedAt = Date.now();
        resolve({ code, signal });
      });
    });

    this.whenClosed = new Promise(resolve => this.child.once('close', () => resolve()));

    // Callers that await `whenEnded` see the fault; without any, it is not an unhandled rejection.
    this.whenEnded.catch(() => {});
  }

  /**
   * The data with which a later process can end the rest of this tree; undefined if it was not
   * started.
   */
  get root(): TreeRoot | undefined {
    const { pid } = this.child;
    return pid === undefined ? undefined : { pid, began: this.#began };
  }

  /** Ends the program and all processes that it started or left running. Never rejects. */
  end(): Promise<void> {
    this.#ending ??= this.#endAll(this.child.pid);
    return this.#ending;
  }

  async #endAll(pid: number | undefined): Promise<void> {
    if (pid === undefined) return;
    if (process.platform === 'win32') {
      await this.#endOnWindows(pid);
    } else {
      await this.#endGroup(pid);
    }
    void this.#closeOutput();
  }

  /**
   * Closes the output, which a process that has left the tree unseen keeps open for as long as it
   * runs. Never rejects.
   */
  async #closeOutput(): Promise<void> {
    const { stdout, stderr } = this.child;

    // In several steps, so that a process that was suspended meanwhile still reads what is there.
    for (let waits = 0; waits < OUTPUT_GRACE.waitCount; waits += 1) {
      if (stdout.closed && stderr.closed) return;
      await delay(OUTPUT_GRACE.waitMs, undefined, { ref: false });
    }

    stdout.destroy();
    stderr.destroy();
  }

  async #endOnWindows(pid: number): Promise<void> {
    if (this.#endedAt === undefined) {
      await endTree(pid, this.#env);
      this.child.kill('SIGKILL');
    } else {
      await endOrphans({ pid, began: this.#began, ended: this.#endedAt }, this.#env);
    }
  }

  /**
   * Kills the group; on Linux also processes that have left it but have the mark in their
   * environment.
   */
  async #endGroup(pid: number): Promise<void> {
    kill(-pid);
    await endMarkedProcesses(this.#mark);
  }
}

/** A tree whose process was killed before it could end it. */
export interface OrphanedTree {
  /** The environment variable that marks its processes, as `NAME=value`. */
  readonly mark: string;
  /** Undefined if the process was killed before it could record it. */
  readonly root: TreeRoot | undefined;
  /** The latest possible time of the kill, in milliseconds since 1970. */
  readonly latestKillAt: number;
}

/** Ends the processes of a tree that the system can still identify. Never rejects. */
export async function endOrphanedTree(
  { mark, root, latestKillAt }: OrphanedTree,
  env: ProgramStart['env'],
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform === 'linux') {
    await endMarkedProcesses(mark);
  } else if (root !== undefined && platform === 'win32') {
    await endOrphans({ ...root, ended: latestKillAt }, env);
  } else if (root !== undefined) {
    await endProcessGroup({ ...root, ended: latestKillAt });
  }
}

/**
 * Ends processes with a mark in their environment, if the system shows it.
 *
 * @param mark `NAME=value`
 */
async function endMarkedProcesses(mark: string): Promise<void> {
  // A starting process shows no environment yet, so only two empty scans in a row count.
  for (let scans = 0, emptyScans = 0; scans < MAX_SCANS && emptyScans < 2; scans += 1) {
    if (scans > 0) await delay(BETWEEN_SCANS_MS);
    const pids = await listPidsWithVariable(mark);
    emptyScans = pids.length === 0 ? emptyScans + 1 : 0;
    for (const pid of pids) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/** @param variable `NAME=value` */
async function listPidsWithVariable(variable: string): Promise<number[]> {
  const names = process.platform === 'linux' ? await readdir('/proc').catch(() => []) : [];
  const pids = await Promise.all(
    names
      .filter(name => /^\d+$/u.test(name))
      .map(async name => {
        const environ = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
        return environ.split('\0').includes(variable) ? [Number(name)] : [];
      }),
  );
  return pids.flat();
}
