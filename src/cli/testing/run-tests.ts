import path from 'node:path';
import { RequestPace } from '../batch/run/request-pace.ts';
import type { Connection, Context } from '../context.ts';
import { failureOf } from '../core/failure.ts';
import { CliError, notFoundError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { connectionFor } from '../inputs/prompt-file.ts';
import type { Checks } from '../outputs/checks/checks.ts';
import { wantsJson } from '../outputs/json.ts';
import { type MediaContent, mediaOf } from '../outputs/media-content.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { findTestFiles } from './cases/find-test-files.ts';
import { hasForeignTests } from './cases/read-foreign-tests.ts';
import { readTestFile } from './cases/read-test-file.ts';
import type { TestFile } from './cases/test-case.ts';
import { updateTestFile } from './cases/update-test-file.ts';
import { allExpectations } from './expectations/expectation.ts';
import { runCommand } from './expectations/run-command.ts';
import type { ReportOutput } from './report-outputs.ts';
import { checkOutputs, reportTests } from './report-tests.ts';
import { type EntryResult, type FileFault, faultyFileResult } from './result.ts';
import { Judge } from './run/judge.ts';
import { type PreparedEntry, prepareEntries } from './run/prepare-entries.ts';
import { type RunEntriesOptions, runEntries } from './run/run-entries.ts';
import { TestState } from './run/test-state.ts';

/** How prompts are tested. */
export interface TestOptions {
  /** Test files and directories; the working directory where there are none. */
  readonly paths: readonly string[];
  /** Words that must all be in a case's file or name. */
  readonly filter: string | undefined;
  /** Every case runs with each, in place of the models of its file; empty for those. */
  readonly models: readonly string[];
  /** Only cases that did not pass when they were last run. */
  readonly failed: boolean;
  readonly resume: boolean;
  /** With `resume`: what may have made a run is created again. */
  readonly retryUnknown: boolean;
  readonly update: boolean;
  readonly judge: string | undefined;
  /** Whether the programs that test files name may run. */
  readonly allowCommands: boolean;
  /** Whether test files may name files outside of their folders. */
  readonly allowOutside: boolean;
  readonly outputs: readonly ReportOutput[];
  readonly concurrency: number;
  /** Requests a second; 0 is unlimited. */
  readonly rate: number;
}

/**
 * Runs the cases of test files and reports them.
 *
 * @returns 0 if all passed, 5 if some failed; the code of the first case that could not be run outranks both
 */
export async function runTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  checkOutputs(ctx, options.outputs);
  const paths = await findTestFiles(options.paths, ctx.cwd, file => hasForeignTests(ctx, file));
  const judge = new Judge(ctx, options.judge);
  const { files, faults } = await readFiles(ctx, paths, judge, options);
  const prepared = await prepareEntries(ctx, target => pacedConnection(ctx, target, options), files);
  const allFaults = [...faults, ...prepared.faults];
  for (const { fault } of allFaults) reportFile(ctx, fault);
  const media = new Map<string, MediaContent>();
  const results = await runAll(ctx, { entries: prepared.entries, paths, judge, media }, options);
  if (results.length + allFaults.length === 0) throw nothingToRun(options);
  const updated = options.update ? await updateFiles(ctx, results) : results;
  const all = inOrder([...updated, ...allFaults.map(faultyFileResult)], paths);
  // What is wrong with the files has been said; there is nothing to show beside it.
  const isShown = results.length > 0 || options.outputs.length > 0 || wantsJson(ctx);
  if (isShown) await reportTests(ctx, all, options.outputs, { media });
  return exitCodeOf(all);
}

/** Reads every test file; what is wrong with one is a fault of that file. */
async function readFiles(
  ctx: Context,
  paths: readonly string[],
  judge: Judge,
  options: TestOptions,
): Promise<{ files: TestFile[]; faults: FileFault[] }> {
  const files: TestFile[] = [];
  const faults: FileFault[] = [];
  for (const file of paths) {
    try {
      const read = await readTestFile(ctx, file, options);
      await refuseUncheckable(read, judge, options);
      const models = options.models.length > 0 ? options.models : read.models;
      files.push(filtered({ ...read, models }, options.filter));
    } catch (error) {
      ctx.signal.throwIfAborted();
      faults.push({ file, name: path.relative(ctx.cwd, file) || file, fault: failureOf(error) });
    }
  }
  return { files, faults };
}

function filtered(file: TestFile, filter: string | undefined): TestFile {
  const words = (filter ?? '').toLowerCase().match(/\S+/gu) ?? [];
  const cases = file.cases.filter(({ name }) => {
    const text = `${file.name} ${name}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  return { ...file, cases };
}

/** Refuses what only a flag allows, and models that are not there, before anything of the file is sent. */
async function refuseUncheckable(
  file: TestFile,
  judge: Judge,
  { allowCommands }: TestOptions,
): Promise<void> {
  for (const expectation of allExpectations(file.cases.flatMap(({ expect }) => expect))) {
    try {
      if (expectation.kind === 'command' && !allowCommands) throw commandsNotAllowed();
      if (expectation.kind === 'rubric' || expectation.kind === 'llm') await judge.check(expectation.model);
    } catch (error) {
      const { message, ...fault } = failureOf(error);
      throw new CliError(`${file.name}, line ${expectation.line}: ${message}`, { ...fault, cause: error });
    }
  }
}

function commandsNotAllowed(): CliError {
  return new CliError('it runs a command of its own', {
    status: 'USAGE_ERROR',
    exitCode: EXIT.usage,
    hints: ['If you trust the file, add --allow-commands. Nothing of it was sent.'],
  });
}

/** Recordings answer as fast as they can be read. */
async function pacedConnection(ctx: Context, target: string, { rate }: TestOptions): Promise<Connection> {
  const connection = await connectionFor(ctx, target);
  const perSecond = connection.recorder?.mode === 'replay' ? 0 : rate;
  const pace = new RequestPace({ perSecond, clock: ctx.clock });
  return { ...connection, client: connection.client.withPace(pace) };
}

function reportFile(ctx: Context, fault: FileFault['fault']): void {
  reportFailure(ctx.io, fault, {
    json: wantsJson(ctx),
    debug: false,
    error: undefined,
    paint: ctx.io.paintErr,
  });
}

interface Tests {
  readonly entries: readonly PreparedEntry[];
  /** Of all test files that were named. */
  readonly paths: readonly string[];
  readonly judge: Judge;
  /** Takes what a page shows. */
  readonly media: Map<string, MediaContent>;
}

/** Runs the entries of each service. */
async function runAll(ctx: Context, tests: Tests, options: TestOptions): Promise<EntryResult[]> {
  const results: EntryResult[] = [];
  for (const service of new Set(tests.entries.map(({ connection }) => connection.service))) {
    const own = tests.entries.filter(({ connection }) => connection.service === service);
    results.push(...(await runService(ctx, { ...tests, entries: own }, options)));
  }
  return results;
}

async function runService(
  ctx: Context,
  { entries, paths, judge, media }: Tests,
  options: TestOptions,
): Promise<EntryResult[]> {
  const [first] = entries;
  if (first === undefined) return [];
  const { connection } = first;
  const { concurrency, resume, retryUnknown } = options;
  const state = await TestState.open(ctx.stateDir, paths, connection);
  try {
    const chosen = options.failed ? entries.filter(entry => state.hasFailed(entry)) : entries;
    const tools = toolsFor(ctx, judge, await ctx.checks());
    const results = await runEntries(ctx, connection, chosen, {
      concurrency,
      state,
      resume,
      retryUnknown,
      tools,
    });
    if (options.outputs.some(({ reporter }) => reporter === 'html')) {
      const runs = results.flatMap(({ repetitions }) => repetitions.flatMap(({ run }) => run ?? []));
      const own = await mediaOf(connection, runs, { forPage: true, signal: ctx.signal });
      for (const [url, content] of own) media.set(url, content);
    }
    return results;
  } finally {
    await state.close();
  }
}

function toolsFor(ctx: Context, judge: Judge, checks: Pick<Checks, 'perform'>): RunEntriesOptions['tools'] {
  return ({ entry: { file, testCase, model }, request }) => ({
    checks,
    ask: judge.ask,
    values: new Map([...testCase.text, ...(testCase.data ?? [])]),
    dollars: async () => undefined,
    command: (argv, output) =>
      runCommand(
        argv,
        { name: testCase.name, inputs: Object.fromEntries(request.text), model: model ?? null, output },
        { directory: path.dirname(file.file), env: ctx.env, secrets: new Set(), signal: ctx.signal },
      ),
  });
}

function nothingToRun({ failed, filter }: TestOptions): CliError {
  if (failed) {
    return notFoundError(
      'no case failed when these tests were last run',
      'Leave out --failed to run them all.',
    );
  }
  return notFoundError(`no case has ${JSON.stringify(filter)} in its name or file`);
}

/** Writes what came as what is expected; what was not written, or does not fit all answers, stays a failure. */
async function updateFiles(ctx: Context, results: readonly EntryResult[]): Promise<EntryResult[]> {
  const updated: EntryResult[] = [];
  for (const file of new Set(results.map(({ entry }) => entry.file.file))) {
    const own = results.filter(({ entry }) => entry.file.file === file);
    const { results: judged, written } = await updateTestFile(file, own);
    updated.push(...judged);
    if (written === 0) continue;
    const name = own[0]?.entry.file.name ?? file;
    ctx.io.note(`note: ${name}: ${written} expectation${written === 1 ? '' : 's'} updated`);
  }
  return updated;
}

/** The results of each file together, in the order of the files. */
function inOrder(results: readonly EntryResult[], paths: readonly string[]): EntryResult[] {
  const place = ({ entry }: EntryResult): number => paths.indexOf(entry.file.file);
  return results.toSorted((one, other) => place(one) - place(other));
}

function exitCodeOf(results: readonly EntryResult[]): ExitCode {
  const fault = results.flatMap(({ repetitions }) => repetitions).find(one => one.fault !== undefined)?.fault;
  if (fault !== undefined) return fault.exitCode;
  return results.some(({ status }) => status === 'failed') ? EXIT.runFailed : EXIT.ok;
}
