import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { visible } from '../terminal/sanitise.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { printValue, wantsJson } from './json.ts';
import type { RunFacts } from './manifest.ts';
import type { SchemaCheck } from './output-schema.ts';
import { printOutputs } from './print-outputs.ts';
import type { SavedOutputs, SaveFailure, SaveOptions } from './save.ts';

export interface PresentOptions {
  /** Writes the outputs to files as well. */
  readonly save?: SaveOptions;
  /** Whether pictures may be shown on a terminal that can. */
  readonly preview: boolean;
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
  const { paths, failures } = await save(ctx, connection, run, options.save);
  if (wantsJson(ctx)) await printJson(ctx, withPaths(run, paths));
  else await printOutputs(ctx, connection, run, { paths, preview: options.preview });
  if (run.runStatus !== 'failed') {
    await refuseMismatch(run, options.schema);
    refuseFailures(run, failures);
    return EXIT.ok;
  }
  for (const failure of failures) ctx.io.note(visible(`note: ${toldAs(failure)}`));
  return EXIT.runFailed;
}

/** A query that turns out not to fit what came must not cost the result: the error names the run. */
async function printJson(ctx: Context, run: Run): Promise<void> {
  try {
    await printValue(ctx, run);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.usage) throw error;
    const { runId } = run;
    const message = `${error.message} Get the run with: promptrun runs get ${shellWord(runId)}`;
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
  const mismatch = outputMismatch(run.outputs, schema);
  if (mismatch !== undefined) {
    throw new CliError(mismatchText(mismatch), {
      status: 'SCHEMA_MISMATCH',
      exitCode: EXIT.runFailed,
      data: { runId: run.runId, ...mismatch },
    });
  }
}

/** A download that failed after a good run: the results are out already. */
function refuseFailures(run: Run, failures: readonly SaveFailure[]): void {
  const [first, ...others] = failures.map(toldAs);
  if (first === undefined) return;
  throw new CliError(first, {
    status: failures.every(({ output }) => output === 0) ? 'FILE_ERROR' : 'NETWORK_ERROR',
    exitCode: EXIT.fault,
    hints: [...others, `Try again with: promptrun runs save ${shellWord(run.runId)}`],
    data: { runId: run.runId, notSaved: failures },
  });
}

function toldAs({ output, message }: SaveFailure): string {
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

/** The run as it came, with the path of each output that was saved. */
export function withPaths(run: Run, paths: readonly (string | undefined)[]): Run {
  if (paths.every(path => path === undefined)) return run;
  return {
    ...run,
    outputs: run.outputs.map((item, index) => {
      const savedTo = paths[index];
      return savedTo === undefined ? item : { ...item, savedTo };
    }),
  };
}

/** The flags of every command that gives the outputs of a run. */
export interface OutputFlags {
  /** True where no directory is named. */
  readonly save?: string | true;
  readonly force?: boolean;
  readonly preview: boolean;
  /** A file with the JSON Schema that the text output must match. */
  readonly schema?: string;
}

/**
 * How outputs are to be given, once the facts of their run are known. Settings and the schema are read at once, so
 * that one that is damaged costs no run.
 *
 * @throws {CliError} USAGE_ERROR for a schema that can't be used
 */
export async function outputPlan(
  ctx: Context,
  flags: OutputFlags,
): Promise<(facts: RunFacts) => PresentOptions> {
  const directory = flags.save === true ? (ctx.settings.get('saveDir') ?? '.') : flags.save;
  const preview = flags.preview && ctx.io.stdout.isTerminal && (ctx.settings.get('preview') ?? true);
  const force = flags.force === true;
  const schema = await schemaOf(ctx, flags.schema);
  return facts => ({
    preview,
    ...(directory !== undefined && { save: { directory, force, facts } }),
    ...(schema !== undefined && { schema }),
  });
}

async function schemaOf(ctx: Context, file: string | undefined): Promise<SchemaCheck | undefined> {
  if (file === undefined) {
    return undefined;
  }
  const { readSchema } = await import('./output-schema.ts');
  return readSchema(file, ctx.cwd, '--schema');
}
