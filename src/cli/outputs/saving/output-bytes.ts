import { Readable } from 'node:stream';
import { NotFoundError } from '../../../client/errors.ts';
import { formatOutputData } from '../../../files/formats/json-fields.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { isMedia, type OutputItem, type Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { CliError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { stopIfInterrupted } from './save-outputs.ts';

/**
 * Writes the exact bytes of a run's only output to standard output: its text, or the media at its
 * URL.
 *
 * @throws {CliError} if there are several outputs or none (exit 2), or the download fails (exit 1)
 */
export async function writeOutputBytes(
  ctx: Context,
  connection: Connection,
  run: Run,
): Promise<void> {
  const outputs = run.outputs.filter(({ type }) => type !== 'error');
  const [output] = outputs;
  if (output === undefined || outputs.length > 1) {
    throw outputCountError(connection, run, outputs.length);
  }

  try {
    for await (const chunk of await fetchOutputChunks(ctx, connection, output)) {
      if (!(await ctx.io.out(chunk))) return;
    }
  } catch (error) {
    stopIfInterrupted(ctx, connection, run, { error, to: ['--to', '-'] });
    // Standard output can't be written.
    if (error instanceof CliError) throw error;
    throw notWrittenError(connection, run, error);
  }
}

async function fetchOutputChunks(
  ctx: Context,
  { client }: Connection,
  item: OutputItem,
): Promise<AsyncIterable<Uint8Array>> {
  if (isMedia(item)) return (await client.download(item.data, { signal: ctx.signal })).body;
  return Readable.from([Buffer.from(formatOutputData(item.data))]);
}

function outputCountError({ formatCommand }: Connection, { runId }: Run, count: number): CliError {
  return new CliError(
    `run ${runId} has ${count === 0 ? 'no output' : `${count} outputs`}: only a single one can be written to standard output`,
    {
      status: 'USAGE_ERROR',
      exitCode: EXIT.usage,
      hints: [`Save them to files with: ${formatCommand('runs', 'save', runId)} --to <dir>`],
      data: { runId },
    },
  );
}

function notWrittenError({ formatCommand }: Connection, { runId }: Run, cause: unknown): CliError {
  return new CliError(`the output was not written: ${getErrorMessage(cause)}`, {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
    hints:
      cause instanceof NotFoundError
        ? []
        : [`Try again with: ${formatCommand('runs', 'save', runId, '--to', '-')}`],
    data: { runId },
    cause,
  });
}
