import { existsSync, type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import { counted } from '../core/counted.ts';
import { Budget } from '../creation/budget.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { visible } from '../terminal/sanitise.ts';
import type { TestCase, TestFile } from './cases/test-case.ts';
import { findTests, readFiles } from './read-files.ts';
import { checkOutputs } from './report-tests.ts';
import { Judge } from './run/judge.ts';
import { runRound } from './run-tests.ts';
import type { TestOptions } from './test-options.ts';

/** Editors write, rename and touch: what happens within this time is one change, in milliseconds. */
const SETTLE_MS = 150;
/** Files in places that nothing watches yet are looked for this often, in milliseconds. */
const LOOK_MS = 1000;

/** What a file looked like, by its path. */
type Snapshot = ReadonlyMap<string, string>;

/**
 * Runs all tests, then after each change the cases that it concerns, until it is ended.
 *
 * @returns the code of the last round; 8 at a cap
 * @throws {CliError} INTERRUPTED in a round, or by a signal
 */
export async function watchTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  checkOutputs(ctx, options.outputs);
  const events = new Events(ctx);
  // One for all rounds: caps hold for the session, and its costs are told after each.
  const budget = new Budget(ctx, options.caps);
  try {
    let files: readonly TestFile[] = await read();
    let seen = await snapshotOf(ctx, options, files);
    let next: Wanted = 'a';
    for (;;) {
      events.isRunning = true;
      const failed = options.failed || next === 'f';
      const isChosen = next instanceof Set ? concerns(next) : undefined;
      const round = await runRound(ctx, { ...options, failed }, budget, isChosen);
      events.isRunning = false;
      if (round.code === EXIT.capReached) return round.code;
      files = withFormer(round.files, files);
      const after = await snapshotOf(ctx, options, files);
      // What this round wrote into its own test files is no change; what somebody else changed meanwhile is.
      const changed = changesBetween(seen, after, options.update ? files.map(({ file }) => file) : []);
      seen = after;
      const wanted = isConcerned(ctx, files, changed) ? changed : await events.next(changesSince);
      if (wanted === 'q') return round.code;
      next = wanted;
    }

    async function read(): Promise<readonly TestFile[]> {
      const judge = new Judge(ctx, options.judge, budget);
      return (await readFiles(ctx, await tests(ctx, options), judge, options)).files;
    }

    async function changesSince(): Promise<ReadonlySet<string> | undefined> {
      const now = await snapshotOf(ctx, options, files);
      const changed = changesBetween(seen, now, []);
      seen = now;
      events.watch(now);
      if (changed.size === 0) return undefined;
      return isConcerned(ctx, withFormer(await read(), files), changed) ? changed : undefined;
    }
  } finally {
    events.close();
  }
}

/** What was read, and of what can't be read for now what was known of it: its prompt is looked at all the same. */
function withFormer(read: readonly TestFile[], former: readonly TestFile[]): TestFile[] {
  const isLost = ({ file }: TestFile): boolean => !read.some(one => one.file === file) && existsSync(file);
  return [...read, ...former.filter(isLost)];
}

/** The test files that there are; a folder may have none for now. */
async function tests(ctx: Context, options: TestOptions): Promise<string[]> {
  return findTests(ctx, options).catch(() => []);
}

/** What is run next: all, what failed, or what these files concern; `q` is nothing more. */
type Wanted = 'a' | 'f' | 'q' | ReadonlySet<string>;

/** Whether a case depends on one of these files: its test file, its prompt, the partials beside it, what it reads. */
function concerns(changed: ReadonlySet<string>): (file: TestFile, testCase: TestCase) => boolean {
  return ({ file, target }, { reads = [] }) => {
    const isPrompt = path.isAbsolute(target);
    const isPartial = (name: string): boolean =>
      isPrompt && path.dirname(name) === path.dirname(target) && PARTIAL.test(path.basename(name));
    return [...changed].some(
      name => name === file || name === target || reads.includes(name) || isPartial(name),
    );
  };
}

const PARTIAL = /^_.*\.prompt$/u;

/** Says what changed and how many cases that concerns. A test file that can't be read counts: its fault is told. */
function isConcerned(ctx: Context, files: readonly TestFile[], changed: ReadonlySet<string>): boolean {
  if (changed.size === 0) return false;
  const isOne = concerns(changed);
  const count = files.reduce((sum, file) => sum + file.cases.filter(one => isOne(file, one)).length, 0);
  const names = [...changed].map(file => path.relative(ctx.cwd, file)).join(', ');
  ctx.io.note(visible(`${names} changed${count === 0 ? '' : `: ${counted(count, 'case')}`}`));
  return count > 0 || [...changed].some(file => /\.ya?ml$/u.test(file) && existsSync(file));
}

async function snapshotOf(ctx: Context, options: TestOptions, files: readonly TestFile[]): Promise<Snapshot> {
  const prompts = files.map(({ target }) => target).filter(target => path.isAbsolute(target));
  const partials: string[] = [];
  for (const folder of new Set(prompts.map(prompt => path.dirname(prompt)))) {
    const names = await readdir(folder).catch(() => []);
    partials.push(...names.filter(name => PARTIAL.test(name)).map(name => path.join(folder, name)));
  }
  const read = files.flatMap(({ file, cases }) => [file, ...cases.flatMap(({ reads = [] }) => reads)]);
  const all = new Set([...(await tests(ctx, options)), ...read, ...prompts, ...partials]);
  const entries = [...all].map(async (file): Promise<[string, string]> => {
    const stats = await stat(file).catch(() => undefined);
    return [file, stats === undefined ? '' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`];
  });
  return new Map(await Promise.all(entries));
}

/** Files that are new, gone or other than they were; what was just found to be read is none of them. */
function changesBetween(before: Snapshot, after: Snapshot, own: readonly string[]): Set<string> {
  const isOther = ([file, form]: [string, string]): boolean =>
    after.has(file) ? after.get(file) !== form : !existsSync(file);
  const known = [...before].filter(isOther).map(([file]) => file);
  const isNew = (file: string): boolean => !before.has(file) && /\.ya?ml$|^_/u.test(path.basename(file));
  return new Set([...known, ...[...after.keys()].filter(isNew)].filter(file => !own.includes(file)));
}

/** Keys on a terminal, and changes of files. */
class Events {
  readonly #ctx: Context;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #keys: string[] = [];
  #wake: () => void = () => {};
  /** Whether a round is under way: what ends the command then interrupts it. */
  isRunning = false;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    const { stdin } = ctx.io;
    if (!stdin.isTerminal) return;
    stdin.stream.setRawMode(true);
    stdin.stream.on('data', this.#onData).resume();
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    const { stdin } = this.#ctx.io;
    if (!stdin.isTerminal) return;
    stdin.stream.off('data', this.#onData).pause();
    stdin.stream.setRawMode(false);
  }

  /** Reacts at once to what happens in the folders of these files. */
  watch(files: Snapshot): void {
    for (const folder of new Set([...files.keys()].map(file => path.dirname(file)))) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, () => this.#wake());
        // A folder that goes is looked for by its files.
        watcher.on('error', () => watcher.close());
        this.#watchers.set(folder, watcher);
      } catch {
        // It is looked at now and then all the same.
      }
    }
  }

  /** The next key that means something, or what changed. @throws the signal's reason */
  async next(changes: () => Promise<ReadonlySet<string> | undefined>): Promise<Wanted> {
    const { io, signal } = this.#ctx;
    if (io.stdin.isTerminal) io.note('waiting for changes; a runs all, f what failed, q ends');
    else io.note('waiting for changes');
    for (;;) {
      signal.throwIfAborted();
      const key = this.#keys.shift();
      if (key === 'a' || key === 'f' || key === 'q') return key;
      if (key !== undefined) continue;
      const changed = await changes();
      if (changed !== undefined) return changed;
      await this.#somethingHappens(signal);
    }
  }

  async #somethingHappens(signal: AbortSignal): Promise<void> {
    await new Promise<void>(resolve => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, LOOK_MS);
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
    if (this.#keys.length > 0 || signal.aborted) return;
    await new Promise(resolve => setTimeout(resolve, SETTLE_MS));
  }

  readonly #onData = (data: Buffer | string): void => {
    for (const key of String(data)) {
      const wanted = key === '\u0003' ? 'q' : key;
      if (wanted === 'q' && this.isRunning) process.kill(process.pid, 'SIGINT');
      else this.#keys.push(wanted);
    }
    this.#wake();
  };
}
