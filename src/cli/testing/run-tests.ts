import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../files/error-utils.ts';
import { RequestPace } from '../batch/run/request-pace.ts';
import type { Connection, Context } from '../context.ts';
import { notFoundError, usageError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { connectionForAll } from '../inputs/prompt-file.ts';
import { printValue, wantsJson } from '../outputs/json.ts';
import { checkFile } from '../outputs/writable.ts';
import { findTestFiles } from './cases/find-test-files.ts';
import { readTestFile, type TestFile } from './cases/read-test-file.ts';
import { updateTestFile } from './cases/update-test-file.ts';
import type { Expectation } from './expectations/read-expectations.ts';
import { githubReport, writeJobSummary } from './reporters/github.ts';
import { jsonReport } from './reporters/json.ts';
import { junitReport } from './reporters/junit.ts';
import { linesReport, treeReport } from './reporters/text.ts';
import { type Entry, type EntryResult, resultOf } from './result.ts';
import { modelJudge, noJudge } from './run/judge.ts';
import { prepareEntries } from './run/prepare-entries.ts';
import { runEntries } from './run/run-entries.ts';
import { StateFile } from './run/test-state.ts';

export const REPORTERS = ['junit', 'json', 'github'] as const;
export type Reporter = (typeof REPORTERS)[number];

/** How prompts are tested. */
export interface TestOptions {
  /** Test files and directories; the working directory where there are none. */
  readonly paths: readonly string[];
  /** Words that must all be in a case's file or name. */
  readonly filter: string | undefined;
  /** Only cases that did not pass when they were last run. */
  readonly failed: boolean;
  readonly resume: boolean;
  readonly update: boolean;
  readonly judge: string | undefined;
  readonly reporter: Reporter | undefined;
  /** The report's file; standard output where undefined. */
  readonly out: string | undefined;
  readonly concurrency: number;
  /** Requests a second; 0 is unlimited. */
  readonly rate: number;
}

/**
 * Runs the cases of test files and reports them.
 *
 * @returns 0 where all passed, 5 where some failed; the code of the first case that could not be run outranks both
 * @throws {CliError} before anything is sent, for whatever is wrong in the files
 */
export async function runTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  if (options.out !== undefined) checkFile(ctx.cwd, options.out, '--out');
  const found = await findTestFiles(options.paths, ctx.cwd);
  const files = await Promise.all(found.map(file => readTestFile(ctx, file)));
  const chosen = files.map(file => filtered(file, options.filter)).filter(({ cases }) => cases.length > 0);
  if (chosen.length === 0) {
    throw notFoundError(`no case has ${JSON.stringify(options.filter)} in its name or file`);
  }
  refuseUnjudged(chosen, options);
  const results = await resultsOf(ctx, chosen, found, options);
  const reported = options.update ? await updated(ctx, results) : results;
  await report(ctx, reported, options);
  return exitCodeOf(reported);
}

function filtered(file: TestFile, filter: string | undefined): TestFile {
  const words = (filter ?? '')
    .toLowerCase()
    .split(/\s+/u)
    .filter(word => word !== '');
  const cases = file.cases.filter(({ name }) => {
    const text = `${file.name} ${name}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  return { ...file, cases };
}

function refuseUnjudged(files: readonly TestFile[], { judge }: TestOptions): void {
  if (judge !== undefined) {
    return;
  }
  for (const { name, cases } of files) {
    const rubric = cases.flatMap(({ expect }) => expect).find(isRubric);
    if (rubric !== undefined) {
      throw usageError(
        `${name}, line ${rubric.line}: a rubric needs a judge`,
        'Name a model of this machine with --judge <model>.',
      );
    }
  }
}

function isRubric(expectation: Expectation): boolean {
  return expectation.kind === 'rubric' || (expectation.kind === 'not' && isRubric(expectation.expectation));
}

async function resultsOf(
  ctx: Context,
  files: readonly TestFile[],
  found: readonly string[],
  options: TestOptions,
): Promise<EntryResult[]> {
  const targets = files.map(({ target }) => target);
  const connection = paced(ctx, await connectionForAll(ctx, targets), options);
  const prepared = await prepareEntries(ctx, connection, files);
  const state = await StateFile.open(ctx.stateDir, found, options.resume);
  const entries = options.failed ? prepared.filter(entry => state.hasFailed(entry)) : prepared;
  if (entries.length === 0) {
    throw notFoundError(
      'no case failed when these tests were last run',
      'Leave out --failed to run them all.',
    );
  }
  const judge = options.judge === undefined ? noJudge : await modelJudge(ctx, connection, options.judge);
  await state.begin();
  const { concurrency } = options;
  const results = await runEntries(ctx, connection, entries, { concurrency, judge, state });
  await state.complete();
  return results;
}

/** Recordings answer as fast as they can be read. */
function paced(ctx: Context, connection: Connection, { rate }: TestOptions): Connection {
  const perSecond = connection.recorder?.mode === 'replay' ? 0 : rate;
  const pace = new RequestPace({ perSecond, clock: ctx.clock });
  return { ...connection, client: connection.client.withPace(pace) };
}

/** A case whose every mismatch was written into its file has passed now. */
async function updated(ctx: Context, results: readonly EntryResult[]): Promise<EntryResult[]> {
  const files = new Set(results.map(({ entry }) => entry.file));
  const lines = new Map<Entry['file'], ReadonlySet<number>>();
  for (const file of files) {
    const own = results.filter(({ entry }) => entry.file === file);
    const written = await updateTestFile(file.file, own);
    lines.set(file, written);
    if (written.size > 0) {
      ctx.io.note(`note: ${file.name}: ${written.size} expectation${written.size === 1 ? '' : 's'} updated`);
    }
  }
  return results.map(({ entry, repetitions }) =>
    resultOf(
      entry,
      repetitions.map(repetition => ({
        ...repetition,
        mismatches: repetition.mismatches.filter(({ line }) => lines.get(entry.file)?.has(line) !== true),
      })),
    ),
  );
}

async function report(ctx: Context, results: readonly EntryResult[], options: TestOptions): Promise<void> {
  const { reporter, out } = options;
  const isOnGithub = ctx.env['GITHUB_ACTIONS'] === 'true';
  if (reporter !== undefined && out !== undefined) {
    await writeReport(ctx, out, await reportText(results, reporter));
  }
  const summary = ctx.env['GITHUB_STEP_SUMMARY'];
  if ((isOnGithub || reporter === 'github') && summary !== undefined && summary !== '') {
    await writeJobSummary(results, summary, line => ctx.io.note(line));
  }
  if (wantsJson(ctx)) {
    return printValue(ctx, jsonReport(results));
  }
  const shown = out === undefined ? reporter : undefined;
  if (shown !== undefined || isOnGithub) {
    await ctx.io.out(await reportText(results, shown ?? 'github'));
    return;
  }
  const { stdout, paint } = ctx.io;
  await ctx.io.out(stdout.isTerminal ? await treeReport(results, paint) : await linesReport(results));
}

async function reportText(results: readonly EntryResult[], reporter: Reporter): Promise<string> {
  if (reporter === 'junit') {
    return junitReport(results);
  }
  return reporter === 'github'
    ? githubReport(results)
    : `${JSON.stringify(jsonReport(results), undefined, 2)}\n`;
}

/** The tests have run: a report that can't be written must not cost what is known of them. */
async function writeReport(ctx: Context, out: string, text: string): Promise<void> {
  try {
    await writeFile(path.resolve(ctx.cwd, out), text);
  } catch (error) {
    await ctx.io.out(text);
    throw usageError(
      `--out: ${out} can't be written: ${messageOf(error)}`,
      'The report is on standard output.',
    );
  }
}

function exitCodeOf(results: readonly EntryResult[]): ExitCode {
  const fault = results.flatMap(({ repetitions }) => repetitions).find(one => one.fault !== undefined)?.fault;
  if (fault !== undefined) {
    return fault.exitCode;
  }
  return results.some(({ status }) => status === 'failed') ? EXIT.runFailed : EXIT.ok;
}
