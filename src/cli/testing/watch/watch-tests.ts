import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { Budget } from '../../creation/budget.ts';
import { Interrupted } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { visible } from '../../terminal/sanitise.ts';
import type { TestFile } from '../cases/test-case.ts';
import { readFiles } from '../read-files.ts';
import { checkOutputs } from '../report-tests.ts';
import { Judge } from '../run/judge.ts';
import { runRound } from '../run-tests.ts';
import type { TestOptions } from '../test-options.ts';
import { Events, type NextRound } from './events.ts';
import {
  casesByFile,
  changedFiles,
  concerns,
  isYaml,
  presentTests,
  type RunCases,
  type Snapshot,
  snapshotOf,
} from './snapshot.ts';

/** File events within this time count as one change, in milliseconds, because editors write, rename and touch. */
const SETTLE_MS = 150;

/**
 * Runs all tests, then after each change the cases that it concerns, until the user quits. A change that concerns any case
 * ends a round that costs nothing; the cases of that round then run in the next.
 *
 * @returns the code of the last round; 8 at a cap
 * @throws {CliError} INTERRUPTED during a round, or by a signal
 */
export async function watchTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  checkOutputs(ctx, options.outputs);
  const events = new Events(ctx);
  // All rounds share a budget, so that caps apply to the session and each round reports its costs.
  const budget = new Budget(ctx, options.caps);
  try {
    let files: readonly TestFile[] = await read();
    let seen = await snapshotOf(ctx, options, files);
    let run: RunCases = new Map();
    let next: NextRound = 'a';
    for (;;) {
      const { code, changed } = await round(next);
      if (code === EXIT.capReached) return code;
      if (code === undefined) {
        next = typeof next === 'string' ? 'a' : new Set([...next, ...(changed ?? [])]);
      } else {
        const wanted = changed ?? (await events.next(changesSince));
        if (wanted === 'q') return code;
        next = wanted;
      }
    }

    /** Runs a round. Returns its exit code unless a change ended it, and the changed files if they were read. */
    async function round(wanted: NextRound): Promise<{ code?: ExitCode; changed?: ReadonlySet<string> }> {
      const [early, over] = [new AbortController(), new AbortController()];
      const end: Awaited<ReturnType<typeof round>> = {};
      let watching: Promise<void> | undefined;
      const endAtChange = async (): Promise<void> => {
        end.changed = await events.change(changesSince, over.signal);
        early.abort(new Interrupted('SIGINT', [], { by: 'a change' }));
      };
      const onFree = (): void => {
        watching = endAtChange().catch(() => {});
      };
      const failed = options.failed || wanted === 'f';
      const inRound = { ...ctx, signal: AbortSignal.any([ctx.signal, early.signal]) };
      events.isRunning = true;
      try {
        const { code, files: read } = await runRound(inRound, { ...options, failed }, budget, {
          isChosen: typeof wanted === 'string' ? () => true : concerns(wanted, seen, run),
          // The round's own updates of test files must not count as changes.
          onFree: options.update ? () => {} : onFree,
        });
        files = withFormer(read, files);
        // A round of failed cases does not run the changed ones.
        if (!failed) run = casesByFile(read);
        if (options.update) seen = await snapshotOf(ctx, options, files);
        end.code = code;
      } catch (error) {
        if (!early.signal.aborted || ctx.signal.aborted) throw error;
      } finally {
        events.isRunning = false;
        over.abort();
        await watching;
      }
      return end;
    }

    async function read(): Promise<readonly TestFile[]> {
      const judge = new Judge(ctx, options.judge, budget);
      return (await readFiles(ctx, await presentTests(ctx, options), judge, options)).files;
    }

    /** Returns the files that have changed since the last snapshot and concern a case, once the changes have settled. */
    async function changesSince(): Promise<ReadonlySet<string> | undefined> {
      const changed = new Set<string>();
      for (;;) {
        const now = await snapshotOf(ctx, options, files);
        const more = changedFiles(seen, now);
        seen = now;
        events.watch(now.files);
        if (more.size === 0) break;
        for (const name of more) changed.add(name);
        await new Promise(resolve => setTimeout(resolve, SETTLE_MS));
      }
      if (changed.size === 0) return undefined;
      const now = await read();
      const unread = (file: string) =>
        isYaml(file) && existsSync(file) && !now.some(one => one.file === file);
      files = withFormer(now, files);
      return isConcerned(ctx, { files, unread, changed, seen, run }) ? changed : undefined;
    }
  } finally {
    events.close();
  }
}

/** Returns the test files; for those that can't be read now, their former state, so that their prompts stay watched. */
function withFormer(read: readonly TestFile[], former: readonly TestFile[]): TestFile[] {
  const isLost = ({ file }: TestFile): boolean => !read.some(one => one.file === file) && existsSync(file);
  return [...read, ...former.filter(isLost)];
}

interface WatchedChange {
  readonly files: readonly TestFile[];
  /** Returns true for a test file that can't be read now. */
  readonly unread: (file: string) => boolean;
  readonly changed: ReadonlySet<string>;
  readonly seen: Snapshot;
  readonly run: RunCases;
}

/** Notes the changes and the number of cases they concern. Returns true if there is any, or an unreadable test file. */
function isConcerned(ctx: Context, { files, unread, changed, seen, run }: WatchedChange): boolean {
  const isOne = concerns(changed, seen, run);
  const count = files.reduce((sum, file) => sum + file.cases.filter(one => isOne(file, one)).length, 0);
  const names = [...changed].map(file => path.relative(ctx.cwd, file)).join(', ');
  const hasFault = [...changed].some(unread);
  const none = hasFault || ![...changed].some(isYaml) ? '' : ', but none of its cases';
  ctx.io.note(visible(`${names} changed${count === 0 ? none : `: ${counted(count, 'case')}`}`));
  return count > 0 || hasFault;
}
