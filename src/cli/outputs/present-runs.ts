import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import {
  concludeRun,
  openIfWanted,
  type PresentOptions,
  presentRun,
  saveIfWanted,
  withPaths,
} from './present-run.ts';
import { printValue } from './print-json.ts';
import type { SavedOutputs } from './saving/save-outputs.ts';

/** A run and the form of its outputs. */
export interface PresentedRun {
  readonly run: Run;
  readonly options: PresentOptions;
}

/**
 * Prints several runs in order, as one array with `--json`. A failed download doesn't stop the
 * others. Returns the last exit code that is not 0.
 *
 * @throws the first usage error, such as a link where a file would be saved, else the first fault;
 * after all are printed
 */
export async function presentRuns(
  ctx: Context,
  connection: Connection,
  runs: readonly PresentedRun[],
): Promise<ExitCode> {
  if (!ctx.globals.json) {
    return presentInTurn(ctx, runs, ({ run, options }) =>
      presentRun(ctx, connection, run, options),
    );
  }

  const savedRuns: (PresentedRun & SavedOutputs)[] = [];
  for (const { run, options } of runs) {
    savedRuns.push({ run, options, ...(await saveIfWanted(ctx, connection, run, options.save)) });
  }

  const runsWithPaths = savedRuns.map(({ run, paths }) => withPaths(run, paths));
  await printValue(ctx, runsWithPaths);
  return presentInTurn(ctx, savedRuns, async ({ run, options, paths, failures }) => {
    await openIfWanted(ctx, connection, run, { options, paths });
    return concludeRun(ctx, connection, { run, schema: options.schema, failures });
  });
}

async function presentInTurn<T>(
  { signal }: Context,
  runs: readonly T[],
  presentOne: (run: T) => Promise<ExitCode>,
): Promise<ExitCode> {
  const faults: unknown[] = [];
  let code: ExitCode = EXIT.ok;
  for (const run of runs) {
    try {
      const runCode = await presentOne(run);
      if (runCode !== EXIT.ok) code = runCode;
    } catch (error) {
      signal.throwIfAborted();
      faults.push(error);
    }
  }

  if (faults.length > 0) throw faults.find(isUsageError) ?? faults[0];
  return code;
}

function isUsageError(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.usage;
}
