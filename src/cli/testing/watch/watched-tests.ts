import { existsSync } from 'node:fs';
import type { Context } from '../../context.ts';
import type { ExitCode } from '../../core/exit-codes.ts';
import { toPosixRelativePath } from '../../core/paths.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { Budget } from '../../creation/spending/budget.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import type { TestFile } from '../cases/test-case.ts';
import { Judge } from '../judging/judge.ts';
import { readTestFiles } from '../read-test-files.ts';
import { runRound } from '../run-tests.ts';
import type { TestOptions } from '../test-options.ts';
import {
  collectCaseTexts,
  createDependencyCheck,
  findPresentTestFiles,
  listChangedFiles,
  mayBeTestFile,
  type RunCaseTexts,
  type Snapshot,
  takeSnapshot,
} from './snapshot.ts';
import type { NextRound } from './watch-events.ts';

/**
 * File events within this time count as one change, in milliseconds, because editors write, rename
 * and touch.
 */
const TEST_FILES_SETTLE_MS = 150;

interface WatchedTestsOptions {
  readonly budget: Budget;
  /** Called with the files to watch, each time that they are read. */
  readonly watch: (files: Snapshot['fingerprints']) => void;
}

/**
 * The test files of a watch, the state of the files that they depend on, and the cases that have
 * run.
 */
export class WatchedTests {
  readonly #ctx: Context;
  readonly #options: TestOptions;
  readonly #budget: Budget;
  readonly #watch: WatchedTestsOptions['watch'];
  #files: readonly TestFile[] = [];
  #snapshot: Snapshot = { fingerprints: new Map(), partialsByPrompt: new Map() };
  #runCaseTexts: RunCaseTexts = new Map();

  constructor(ctx: Context, options: TestOptions, { budget, watch }: WatchedTestsOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#budget = budget;
    this.#watch = watch;
  }

  /** Reads the test files for the first time. */
  async readInitialState(): Promise<void> {
    this.#files = await this.#readFiles();
    this.#snapshot = await this.#takeSnapshot();
  }

  /**
   * Runs a round.
   *
   * @param round.onFreeRound called if the round costs nothing
   */
  async run(
    nextRound: NextRound,
    { signal, onFreeRound }: { readonly signal: AbortSignal; readonly onFreeRound: () => void },
  ): Promise<ExitCode> {
    const { update } = this.#options;
    const runsOnlyFailed = this.#options.failed || nextRound === 'failed';
    const { exitCode, files } = await runRound(
      { ...this.#ctx, signal },
      { ...this.#options, failed: runsOnlyFailed },
      this.#budget,
      {
        isChosen:
          typeof nextRound === 'string'
            ? () => true
            : createDependencyCheck(nextRound, this.#snapshot, this.#runCaseTexts),
        // With `--update`, the round writes test files, so it must end before changes count again.
        onFreeRound: update ? () => {} : onFreeRound,
      },
    );
    this.#files = withUnreadableFiles(files, this.#files);

    // A round of failed cases does not run the changed ones.
    if (!runsOnlyFailed) this.#runCaseTexts = collectCaseTexts(files);
    if (update) this.#snapshot = await this.#takeSnapshot();
    return exitCode;
  }

  /**
   * Reports the files that have changed since the last call, and returns them if any concerns a case
   * or is a test file that can't be read.
   */
  async readChanges(): Promise<ReadonlySet<string> | undefined> {
    const changedPaths = await this.#waitForChanges();
    if (changedPaths.size === 0) return undefined;

    const readableFiles = await this.#readFiles();
    this.#files = withUnreadableFiles(readableFiles, this.#files);
    const readablePaths = new Set(readableFiles.map(({ path }) => path));
    const hasUnreadableFile = [...changedPaths].some(
      file => mayBeTestFile(file) && existsSync(file) && !readablePaths.has(file),
    );
    const caseCount = this.#countConcernedCases(changedPaths);
    reportChange(this.#ctx, changedPaths, { caseCount, hasUnreadableFile });

    return caseCount > 0 || hasUnreadableFile ? changedPaths : undefined;
  }

  /** Returns the changed files once nothing has changed for a while. */
  async #waitForChanges(): Promise<ReadonlySet<string>> {
    const changedPaths = new Set<string>();
    let newChanges = await this.#updateSnapshot();
    while (newChanges.size > 0) {
      for (const changedPath of newChanges) changedPaths.add(changedPath);
      await new Promise(resolve => setTimeout(resolve, TEST_FILES_SETTLE_MS));
      newChanges = await this.#updateSnapshot();
    }
    return changedPaths;
  }

  /** Takes a new snapshot, and returns the files that have changed since the last one. */
  async #updateSnapshot(): Promise<ReadonlySet<string>> {
    const snapshot = await this.#takeSnapshot();
    const changedPaths = listChangedFiles(this.#snapshot, snapshot);
    this.#snapshot = snapshot;
    this.#watch(snapshot.fingerprints);
    return changedPaths;
  }

  #countConcernedCases(changedPaths: ReadonlySet<string>): number {
    const isConcerned = createDependencyCheck(changedPaths, this.#snapshot, this.#runCaseTexts);
    const counts = this.#files.map(
      file => file.cases.filter(testCase => isConcerned(file, testCase)).length,
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #readFiles(): Promise<readonly TestFile[]> {
    const judge = new Judge(this.#ctx, this.#options.judgeModel, this.#budget);
    const foundTests = await findPresentTestFiles(this.#ctx, this.#options);
    return (await readTestFiles(this.#ctx, foundTests, judge, this.#options)).files;
  }

  async #takeSnapshot(): Promise<Snapshot> {
    return await takeSnapshot(this.#ctx, this.#options, this.#files, this.#snapshot);
  }
}

/**
 * Returns the test files; for those that can't be read now, their former state, so that their
 * prompts stay watched.
 */
function withUnreadableFiles(
  readableFiles: readonly TestFile[],
  formerFiles: readonly TestFile[],
): TestFile[] {
  const readablePaths = new Set(readableFiles.map(({ path }) => path));
  const isUnreadable = ({ path }: TestFile): boolean =>
    !readablePaths.has(path) && existsSync(path);
  return [...readableFiles, ...formerFiles.filter(isUnreadable)];
}

/** Reports the changed files and the number of cases that they affect. */
function reportChange(
  { cwd, io }: Context,
  changedPaths: ReadonlySet<string>,
  {
    caseCount,
    hasUnreadableFile,
  }: { readonly caseCount: number; readonly hasUnreadableFile: boolean },
): void {
  const presentFiles = [...changedPaths].filter(file => existsSync(file));
  const deletedFiles = [...changedPaths].filter(file => !presentFiles.includes(file));
  const joinPaths = (files: readonly string[]): string =>
    files.map(file => toPosixRelativePath(cwd, file)).join(', ');
  const parts = [
    ...(presentFiles.length > 0 ? [`${joinPaths(presentFiles)} changed`] : []),
    ...(deletedFiles.length > 0 ? [`${joinPaths(deletedFiles)} deleted`] : []),
  ];

  const describeCases = (): string => {
    if (caseCount > 0) return `: ${pluralize(caseCount, 'case')}`;
    return !hasUnreadableFile && presentFiles.some(mayBeTestFile) ? ', but none of its cases' : '';
  };

  io.note(escapeControls(`${parts.join(', ')}${describeCases()}`));
}
