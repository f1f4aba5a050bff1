import { NotFoundError } from '../../../client/errors.ts';
import type { Connection, Context } from '../../context.ts';
import { CliError, notFoundError, usageError } from '../../core/errors.ts';
import { toFailure } from '../../core/failure.ts';
import type { CreatedRun } from '../../creation/creation-result.ts';
import { requireLastRun } from '../../creation/last-run.ts';
import { LOCAL_PROFILE } from '../../settings/config/profile-name.ts';
import { resolveRun } from '../../targets/run-name.ts';
import { createCommandFormatter } from '../../terminal/command-line.ts';
import { toOneLine } from '../../terminal/sanitise.ts';

/** Refuses a command line without a run, or with both runs and `--last`. */
export function requireRunsOrLast(
  { formatCommand }: Context,
  names: readonly string[],
  { last }: { readonly last?: boolean },
): void {
  if ((names.length === 0) !== (last === true)) {
    throw usageError(
      'give either run ids or --last',
      `List your runs with: ${formatCommand('runs', 'list')}`,
    );
  }
}

/** Returns the id of a named run; without a name, of the last run started on this machine. */
export async function resolveNamedRun(
  ctx: Context,
  connection: Connection,
  name: string | undefined,
): Promise<string> {
  return name === undefined
    ? (await requireLastRun(ctx, connection)).runId
    : resolveRun(ctx, connection, name);
}

/**
 * Returns the answer to a request about a run.
 *
 * @param verb the command of `runs` that sends the request, for the hint
 * @throws {CliError} exit 4 for an unknown run, with the command that asks the service at which this
 * machine started it
 */
export async function askOfRun<T>(
  ctx: Context,
  { serviceName, formatCommand }: Connection,
  { verb, runId }: { readonly verb: string; readonly runId: string },
  request: Promise<T>,
): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;

    for await (const { runId: startedRunId, baseUrl } of ctx.journal.readNewestFirst()) {
      if (startedRunId !== runId || baseUrl === serviceName) continue;

      const otherService = baseUrl === 'local' ? { profile: LOCAL_PROFILE } : { baseUrl };
      const command = createCommandFormatter(otherService, ctx.env)('runs', verb, runId);
      throw notFoundError(
        `${error.message}; it was started at another service`,
        `Ask there with: ${command}`,
      );
    }

    const { message, ...failure } = toFailure(error);
    const hints = [
      `The requested id: ${toOneLine(runId)}`,
      `List your runs with: ${formatCommand('runs', 'list')}`,
    ];
    throw new CliError(message, { ...failure, hints, cause: error });
  }
}

/**
 * Fetches a run. In JSON, marks one that was recovered after a lost answer.
 *
 * @throws as `askOfRun`
 */
export async function readRun(
  ctx: Context,
  connection: Connection,
  runId: string,
  verb: string,
): Promise<CreatedRun> {
  const runPromise = connection.client.runs.get(runId, { signal: ctx.signal });
  const run = await askOfRun(ctx, connection, { verb, runId }, runPromise);
  const entry = ctx.globals.json
    ? await ctx.journal.find(connection.serviceName, run.runId)
    : undefined;
  return entry?.recovered === true ? { ...run, recovered: true } : run;
}

/** Returns true for the error of `askOfRun` for a run that this machine did not start elsewhere. */
export function isUnknownRunError(error: unknown): error is CliError {
  return error instanceof CliError && error.cause instanceof NotFoundError;
}
