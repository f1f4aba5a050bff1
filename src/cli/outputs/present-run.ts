import { findHomeDirectory } from '../../files/user-folders.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import type { OutputFlags } from '../core/shared-flags.ts';
import { detectShell } from '../terminal/shell-words.ts';
import type { PaidRun } from './not-printed.ts';
import type { OutputSchemaCheck } from './output-schema.ts';
import { printValue } from './print-json.ts';
import { printFaults, printOutputs } from './print-outputs.ts';
import { getRunExitCode } from './provider-fault.ts';
import type { RunFacts, SaveOptions } from './saving/manifest.ts';
import type { SavedOutputs, SaveFailure } from './saving/save-outputs.ts';

/** The form of a run's outputs. */
export interface PresentOptions {
  /** Options for saving the outputs to files; undefined saves none. */
  readonly save?: SaveOptions;
  /** True to write only the bytes of the single output. */
  readonly writesBytesOnly?: boolean;
  /** True to open the outputs with the system's viewer. */
  readonly open?: boolean;
  /** True if images may be shown on a capable terminal. */
  readonly allowsPreview: boolean;
  /** The part of the text that was already streamed; default none. */
  readonly streamedText?: string;
  /** The schema check for the text output. */
  readonly schema?: OutputSchemaCheck;
}

const NOTHING_SAVED: SavedOutputs = { paths: [], failures: [] };

/**
 * Prints a run's outputs in the requested form and returns its exit code, which doesn't depend on
 * the form.
 */
export async function presentRun(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: PresentOptions,
): Promise<ExitCode> {
  if (options.writesBytesOnly === true) return presentBytes(ctx, connection, run, options);

  const { paths, failures } = await saveIfWanted(ctx, connection, run, options.save);
  if (ctx.globals.json) {
    await printJson(ctx, connection, withPaths(run, paths));
  } else {
    const { allowsPreview, streamedText } = options;
    await printOutputs(ctx, connection, run, { paths, allowsPreview, streamedText });
  }

  await openIfWanted(ctx, connection, run, { options, paths });
  return concludeRun(ctx, connection, { run, schema: options.schema, failures });
}

/** Opens the outputs of a run with the system's viewer if its options say so. */
export async function openIfWanted(
  ctx: Context,
  connection: Connection,
  run: Run,
  { options, paths }: { options: PresentOptions; paths: SavedOutputs['paths'] },
): Promise<void> {
  if (options.open !== true) return;
  const { openOutputs } = await import('./open-outputs.ts');
  await openOutputs(ctx, connection, run, paths);
}

/** A run after printing it. */
interface PrintedRun {
  readonly run: Run;
  readonly schema: OutputSchemaCheck | undefined;
  readonly failures: readonly SaveFailure[];
}

/**
 * Returns the exit code of a run after printing it.
 *
 * @throws {CliError} if it succeeded but its outputs don't match, or could not be saved
 */
export async function concludeRun(
  ctx: Context,
  connection: Connection,
  { run, schema, failures }: PrintedRun,
): Promise<ExitCode> {
  const hasFailed = run.runStatus === 'failed';
  if (failures.length > 0) {
    const { throwIfLinked, noteFailures } = await import('./saving/save-failures.ts');
    throwIfLinked(run, failures);
    if (hasFailed) noteFailures(ctx, failures);
  }
  if (hasFailed) return getRunExitCode(connection, run);

  await refuseMismatch(run, schema);
  if (failures.length > 0) {
    const { throwIfNotSaved } = await import('./saving/save-failures.ts');
    throwIfNotSaved(connection, run, failures);
  }
  return EXIT.ok;
}

/** Throws if a run succeeded with an output that doesn't match the schema. */
async function refuseMismatch(run: Run, schema: OutputSchemaCheck | undefined): Promise<void> {
  if (schema === undefined || run.runStatus !== 'succeeded') return;
  const { formatMismatch, findOutputMismatch } = await import('./output-schema.ts');
  const mismatch = await findOutputMismatch(run.outputs, schema);
  if (mismatch !== undefined) {
    throw new CliError(formatMismatch(mismatch), {
      status: 'PROTOCOL_ERROR',
      exitCode: EXIT.runFailed,
      data: { runId: run.runId, ...mismatch },
    });
  }
}

async function presentBytes(
  ctx: Context,
  connection: Connection,
  run: Run,
  { schema }: PresentOptions,
): Promise<ExitCode> {
  printFaults(ctx, run);
  if (run.runStatus === 'failed') return getRunExitCode(connection, run);

  const { writeOutputBytes } = await import('./saving/output-bytes.ts');
  await writeOutputBytes(ctx, connection, run);
  await refuseMismatch(run, schema);
  return EXIT.ok;
}

/**
 * Prints a run as JSON. If the query doesn't fit the result, the error names the run, so that the
 * result isn't lost.
 */
async function printJson(ctx: Context, { formatCommand }: Connection, run: Run): Promise<void> {
  try {
    await printValue(ctx, run);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.usage) throw error;

    const { runId } = run;
    const message = `${error.message} Get the run with: ${formatCommand('runs', 'get', runId)}`;
    const { status, exitCode, hints } = error;
    throw new CliError(message, { status, exitCode, hints, data: { runId }, cause: error });
  }
}

/** Saves the outputs of a run if there are options for it. */
export async function saveIfWanted(
  ctx: Context,
  connection: Connection,
  run: Run,
  options: SaveOptions | undefined,
): Promise<SavedOutputs> {
  if (options === undefined) return NOTHING_SAVED;
  const { saveOutputs } = await import('./saving/save-outputs.ts');
  return saveOutputs(ctx, connection, run, options);
}

/** Adds to each output of a run the path of its saved file. */
export function withPaths(run: Run, paths: readonly (string | undefined)[] = []): Run {
  if (paths.every(path => path === undefined)) return run;
  const outputs = run.outputs.map((output, index) => {
    const savedTo = paths[index];
    return savedTo === undefined ? output : { ...output, savedTo };
  });
  return { ...run, outputs };
}

/**
 * Reads and checks the output flags before a run is paid for. Returns a function that turns the
 * facts of a run into the form of its outputs.
 *
 * @param flag the flag that names the directory
 * @throws {CliError} USAGE_ERROR for an unusable schema or directory, and for flags that can't be
 * used together
 */
export async function createOutputPlan(
  ctx: Context,
  flags: OutputFlags,
  flag: '--save' | '--to' = '--save',
): Promise<(facts: RunFacts) => PresentOptions> {
  const writesBytesOnly = flags.save === '-';
  if (writesBytesOnly) checkBytesFlag(ctx, flag);

  const directoryName = flags.save === true ? await getDefaultDirectory(ctx) : flags.save;
  const directory = writesBytesOnly ? undefined : directoryName;
  if (directory !== undefined) {
    const { checkDirectory } = await import('./saving/check-writable.ts');
    checkDirectory(ctx.cwd, directory, flag);
  }

  const allowsPreview =
    flags.preview && ctx.io.stdout.isTerminal && (ctx.settings.get('preview') ?? true);
  const force = flags.force === true;
  const schema = await readSchemaFlag(ctx, flags.schema);

  return facts => ({
    allowsPreview,
    writesBytesOnly,
    open: flags.open === true,
    ...(directory !== undefined && { save: { directory, force, facts } }),
    ...(schema !== undefined && { schema }),
  });
}

/**
 * Returns the directory of the setting `saveDir`, in which `~` works although no shell has read it.
 */
async function getDefaultDirectory({ settings, env }: Context): Promise<string> {
  const { expandHome } = await import('../core/paths.ts');
  return expandHome(settings.get('saveDir') ?? '.', findHomeDirectory(env));
}

/** Refuses bytes together with other output, and on a terminal, which would interpret them. */
function checkBytesFlag(ctx: Context, flag: string): void {
  if (ctx.globals.json) {
    throw usageError(
      `${flag} - and --${ctx.globals.query === undefined ? 'json' : 'query'} can't be used together`,
    );
  }
  if (ctx.io.stdout.isTerminal) {
    throw usageError(
      `${flag} - writes bytes, and standard output is a terminal`,
      detectShell(ctx.env) === 'windows-powershell'
        ? 'Name a directory instead of -: Windows PowerShell changes what goes through > and |.'
        : `Redirect it: … ${flag} - > file`,
    );
  }
}

async function readSchemaFlag(
  ctx: Context,
  file: string | undefined,
): Promise<OutputSchemaCheck | undefined> {
  if (file === undefined) return undefined;
  const { readOutputSchema } = await import('./output-schema.ts');
  return readOutputSchema(ctx, file, '--schema');
}

/**
 * Maximum number of bytes that a pipe accepts completely or not at all. Of a longer write it may
 * accept a part and then report only that its reader is gone.
 */
const ATOMIC_WRITE_BYTES = 4000;

/**
 * Prints the result of a run that this command created and paid for. A reader that stops early,
 * such as `head`, is not an error.
 *
 * @param print prints it with the context that it is called with
 * @throws {CliError} exit 1, naming the run, if standard output accepted nothing or is full
 */
export async function printResult<T>(
  ctx: Context,
  run: PaidRun,
  print: (ctx: Context) => Promise<T>,
): Promise<T> {
  let wasAccepted: boolean | undefined;
  const result = await printPaid(ctx, [run], ({ io, ...otherParts }) => {
    const out: Context['io']['out'] = async data => {
      const isFirstWrite = wasAccepted === undefined && data.length > 0;
      if (!isFirstWrite || io.stdout.isTerminal) return io.out(data);

      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      wasAccepted = await io.out(bytes.subarray(0, ATOMIC_WRITE_BYTES));
      return io.out(bytes.subarray(ATOMIC_WRITE_BYTES));
    };
    return print({ ...otherParts, io: { ...io, out } });
  });
  if (wasAccepted !== false) return result;

  const { notPrintedError } = await import('./not-printed.ts');
  const fault = notPrintedError([run], 'standard output was closed before anything was written');
  if (fault !== undefined) throw fault;
  return result;
}

/**
 * Prints the results of the runs that this command created and paid for. A reader that has gone is
 * not an error: the exit code stays the verdict.
 *
 * @param print prints them with the context that it is called with
 * @throws {CliError} exit 1, naming the runs, if standard output is full
 */
export async function printPaid<T>(
  ctx: Context,
  runs: readonly PaidRun[],
  print: (ctx: Context) => Promise<T>,
): Promise<T> {
  const out: Context['io']['out'] = async data => {
    try {
      return await ctx.io.out(data);
    } catch (error) {
      const { notPrintedError } = await import('./not-printed.ts');
      throw notPrintedError(runs, getErrorMessage(error)) ?? error;
    }
  };
  return print({ ...ctx, io: { ...ctx.io, out } });
}
