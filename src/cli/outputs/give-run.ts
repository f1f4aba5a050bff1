import type { Context } from '../context.ts';
import { messageOf } from '../core/error-utils.ts';
import { CliError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { shellWord } from '../terminal/shell-word.ts';

/**
 * Gives the result of a run that this command made and paid for. A reader that has had enough, such as `head`, is none
 * of its concern.
 *
 * @param give prints it, to the context that it is handed
 * @throws {CliError} exit 1, naming the run, where standard output took nothing of it, or is full
 */
export async function giveRun(
  ctx: Context,
  runId: string,
  give: (ctx: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  let wasTaken: boolean | undefined;
  const out: Context['io']['out'] = async data => {
    try {
      const taken = await ctx.io.out(data);
      if (data.length > 0) wasTaken ??= taken;
      return taken;
    } catch (error) {
      throw notTaken(runId, messageOf(error));
    }
  };
  const exitCode = await give({ ...ctx, io: { ...ctx.io, out } });
  if (wasTaken === false) {
    throw notTaken(runId, 'standard output was closed before anything was written');
  }
  return exitCode;
}

function notTaken(runId: string, reason: string): CliError {
  return new CliError(`the result of run ${runId} was not given: ${reason}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: [`Get it with: promptrun runs get ${shellWord(runId)}`],
    data: { runId },
  });
}
