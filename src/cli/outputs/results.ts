import { isMedia, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import type { OutputFlags } from '../core/shared-flags.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { visible } from '../terminal/sanitise.ts';
import { printValue, wantsJson } from './json.ts';
import type { RunFacts, SaveOptions } from './manifest.ts';
import type { SchemaCheck } from './output-schema.ts';
import { printFaults, printOutputs } from './print-outputs.ts';
import { exitCodeOfRun } from './provider-fault.ts';
import type { SavedOutputs, SaveFailure } from './save.ts';

/**
 * How outputs are to be given, once the facts of their run are known. Settings and the schema are read at once, and
 * the directory is looked at, so that nothing that is wrong with them costs a run.
 *
 * @param flag that names the directory
 * @throws {CliError} USAGE_ERROR for a schema or a directory that can't be used, and for flags that exclude each other
 */
export async function outputPlan(
  ctx: Context,
  flags: OutputFlags,
  flag: '--save' | '--to' = '--save',
): Promise<(facts: RunFacts) => PresentOptions> {
  const bytes = flags.save === '-';
  if (bytes) checkBytesWanted(ctx, flag);
  const chosen = flags.save === true ? (ctx.settings.get('saveDir') ?? '.') : flags.save;
  const directory = bytes ? undefined : chosen;
  if (directory !== undefined) {
    const { checkDirectory } = await import('./writable.ts');
    checkDirectory(ctx.cwd, directory, flag);
  }
  const preview = flags.preview && ctx.io.stdout.isTerminal && (ctx.settings.get('preview') ?? true);
  const force = flags.force === true;
  const schema = await schemaOf(ctx, flags.schema);
  return facts => ({
    preview,
    bytes,
    open: flags.open === true,
    ...(directory !== undefined && { save: { directory, force, facts } }),
    ...(schema !== undefined && { schema }),
  });
}

/** The bytes are all that may stand on standard output, and a terminal would read them as commands. */
function checkBytesWanted(ctx: Context, flag: string): void {
  if (wantsJson(ctx)) {
    throw usageError(`${flag} - and --${ctx.globals.json ? 'json' : 'query'} exclude each other`);
  }
  if (ctx.io.stdout.isTerminal) {
    throw usageError(
      `${flag} - writes bytes, and standard output is a terminal`,
      `Redirect it: … ${flag} - > file`,
    );
  }
}

async function schemaOf(ctx: Context, file: string | undefined): Promise<SchemaCheck | undefined> {
  if (file === undefined) return undefined;
  const { readSchema } = await import('./output-schema.ts');
  return readSchema(ctx, file, '--schema');
}

export interface PresentOptions {
  /** Writes the outputs to files as well. */
  readonly save?: SaveOptions;
  /** Writes the bytes of the only output to standard output, and nothing else. */
  readonly bytes?: boolean;
  /** Opens the outputs with the system's viewer. */
  readonly open?: boolean;
  /** Whether pictures may be shown on a terminal that can. */
  readonly preview: boolean;
  /** What was printed of the text while it was made; nothing by default. */
  readonly printed?: string;
  /** What the text output must match. */
  readonly schema?: SchemaCheck;
}

const NOTHING_SAVED: SavedOutputs = { paths: [], failures: [] };

/** Gives a run's outputs in the form asked for; its exit code is the run's, whatever the form. */
export async function presentRun(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: PresentOptions,
): Promise<ExitCode> {
  if (options.bytes === true) return presentBytes(ctx, connection, run, options);
  const { paths, failures } = await save(ctx, connection, run, options.save);
  if (wantsJson(ctx)) await printJson(ctx, connection, withPaths(run, paths));
  else
    await printOutputs(ctx, connection, run, { paths, preview: options.preview, printed: options.printed });
  if (options.open === true) await openOutputs(ctx, connection, run, paths);
  return conclude(ctx, connection, run, options, failures);
}

/** The exit code of a run whose outputs are out. @throws {CliError} if it succeeded, and they are not what was wanted */
async function conclude(
  ctx: Context,
  connection: Connection,
  run: Run,
  { schema }: PresentOptions,
  failures: readonly SaveFailure[],
): Promise<ExitCode> {
  refuseLinks(run, failures);
  if (run.runStatus !== 'failed') {
    await refuseMismatch(run, schema);
    refuseFailures(connection, run, failures);
    return EXIT.ok;
  }
  for (const failure of failures) ctx.io.note(visible(`note: ${messageFor(failure)}`));
  return exitCodeOfRun(connection, run);
}

async function presentBytes(
  ctx: Context,
  connection: Connection,
  run: Run,
  { schema }: PresentOptions,
): Promise<ExitCode> {
  printFaults(ctx, run);
  if (run.runStatus === 'failed') return exitCodeOfRun(connection, run);
  const { writeOutputBytes } = await import('./output-bytes.ts');
  await writeOutputBytes(ctx, connection, run);
  await refuseMismatch(run, schema);
  return EXIT.ok;
}

/** Opens saved files, web addresses, and the files of this process's own service; nothing else that a service names. */
async function openOutputs(
  ctx: Context,
  connection: Connection,
  run: Run,
  paths: readonly (string | undefined)[],
): Promise<void> {
  const { openFile, openUrl } = await import('../terminal/viewer.ts');
  const ownFiles = connection.embedded && connection.recorder?.mode !== 'replay' ? ctx.dataDir : undefined;
  for (const [index, item] of run.outputs.entries()) {
    const path = paths[index];
    if (path !== undefined) await openFile(ctx, path);
    else if (isMedia(item)) await openUrl(ctx, item.data, ownFiles);
  }
}

/** A run and how it is to be given. */
export interface PresentedRun {
  readonly run: Run;
  readonly options: PresentOptions;
}

/**
 * Gives several runs in their order, as one array with `--json`. A download that fails stops none of the others.
 *
 * @throws the first fault, once all are out; a link in the way before any other
 */
export async function presentRuns(
  ctx: Context,
  connection: Connection,
  runs: readonly PresentedRun[],
): Promise<ExitCode> {
  if (!wantsJson(ctx)) {
    return inTurn(ctx, runs, ({ run, options }) => presentRun(ctx, connection, run, options));
  }
  const saved: (PresentedRun & SavedOutputs)[] = [];
  for (const { run, options } of runs) {
    saved.push({ run, options, ...(await save(ctx, connection, run, options.save)) });
  }
  const presented = saved.map(({ run, paths }) => withPaths(run, paths));
  await printValue(ctx, presented);
  return inTurn(ctx, saved, ({ run, options, failures }) =>
    conclude(ctx, connection, run, options, failures),
  );
}

async function inTurn<T>(
  { signal }: Context,
  runs: readonly T[],
  present: (run: T) => Promise<ExitCode>,
): Promise<ExitCode> {
  const faults: unknown[] = [];
  let code: ExitCode = EXIT.ok;
  for (const run of runs) {
    try {
      code = (await present(run)) || code;
    } catch (error) {
      signal.throwIfAborted();
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults.find(isUsage) ?? faults[0];
  return code;
}

function isUsage(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.usage;
}

/** A query that turns out not to fit what came must not cost the result: the error names the run. */
async function printJson(ctx: Context, { advise }: Connection, run: Run): Promise<void> {
  try {
    await printValue(ctx, run);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.usage) throw error;
    const { runId } = run;
    const message = `${error.message} Get the run with: ${advise('runs', 'get', runId)}`;
    const { status, exitCode, hints } = error;
    throw new CliError(message, { status, exitCode, hints, data: { runId }, cause: error });
  }
}

/** A run that succeeded with an output that is not what was asked for. */
async function refuseMismatch(run: Run, schema: SchemaCheck | undefined): Promise<void> {
  if (schema === undefined || run.runStatus !== 'succeeded') {
    return;
  }
  const { mismatchText, outputMismatch } = await import('./output-schema.ts');
  const mismatch = await outputMismatch(run.outputs, schema);
  if (mismatch !== undefined) {
    throw new CliError(mismatchText(mismatch), {
      status: 'SCHEMA_MISMATCH',
      exitCode: EXIT.runFailed,
      data: { runId: run.runId, ...mismatch },
    });
  }
}

/** A link in place of a file that was to be saved: the results are out already. @throws {CliError} exit 2 */
function refuseLinks(run: Run, failures: readonly SaveFailure[]): void {
  const first = failures.find(({ link }) => link !== undefined);
  if (first === undefined) return;
  const hints = ['Remove the link, or save to another folder.'];
  const data = { runId: run.runId, notSaved: failures };
  throw new CliError(messageFor(first), { status: 'USAGE_ERROR', exitCode: EXIT.usage, hints, data });
}

/** A download that failed after a good run: the results are out already. */
function refuseFailures({ advise }: Connection, run: Run, failures: readonly SaveFailure[]): void {
  const [first, ...others] = failures.map(messageFor);
  if (first === undefined) return;
  throw new CliError(first, {
    status: failures.every(({ output }) => output === 0) ? 'FILE_ERROR' : 'NETWORK_ERROR',
    exitCode: EXIT.fault,
    hints: [...others, `Try again with: ${advise('runs', 'save', run.runId)}`],
    data: { runId: run.runId, notSaved: failures },
  });
}

function messageFor({ output, message }: SaveFailure): string {
  return output === 0 ? message : `output ${output} was not saved: ${message}`;
}

async function save(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: SaveOptions | undefined,
): Promise<SavedOutputs> {
  if (options === undefined) return NOTHING_SAVED;
  const { saveOutputs } = await import('./save.ts');
  return saveOutputs(ctx, connection, run, options);
}

/** Adds to each output of a run the path where it was saved. */
export function withPaths(run: Run, paths: readonly (string | undefined)[] = []): Run {
  if (paths.every(path => path === undefined)) return run;
  const outputs = run.outputs.map((output, index) => {
    const savedTo = paths[index];
    return savedTo === undefined ? output : { ...output, savedTo };
  });
  return { ...run, outputs };
}
