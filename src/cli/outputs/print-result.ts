import { messageOf } from '../../files/error-utils.ts';
import type { Connection, Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';

/**
 * Prints the result of a run that this command created and paid for. A reader that stops early, such as `head`, is not an
 * error.
 *
 * @param print prints it to the given context
 * @throws {CliError} exit 1, naming the run, if standard output accepted nothing or is full
 */
export async function printResult(
  ctx: Context,
  connection: Connection,
  runId: string,
  print: (ctx: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  let wasAccepted: boolean | undefined;
  const out: Context['io']['out'] = async data => {
    try {
      const taken = await ctx.io.out(data);
      if (data.length > 0) wasAccepted ??= taken;
      return taken;
    } catch (error) {
      throw notPrintedError(connection, runId, messageOf(error));
    }
  };
  const exitCode = await print({ ...ctx, io: { ...ctx.io, out } });
  if (wasAccepted === false) {
    throw notPrintedError(connection, runId, 'standard output was closed before anything was written');
  }
  return exitCode;
}

function notPrintedError({ advise }: Connection, runId: string, reason: string): CliError {
  return new CliError(`the result of run ${runId} was not printed: ${reason}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: [`Get it with: ${advise('runs', 'get', runId)}`],
    data: { runId },
  });
}
