import { type BatchFlags, batchOptions } from '../../batch/options.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';

/** Runs a target once for each row of a file. */
export async function batch(ctx: Context, target: string, flags: Partial<BatchFlags>): Promise<ExitCode> {
  const { from } = flags;
  // Commander would want a required flag of the commands below this one as well.
  if (from === undefined) {
    throw usageError('--from is missing: the file that holds the rows', 'See: promptrun batch --help');
  }
  const options = batchOptions(ctx, target, { ...(flags as BatchFlags), from });
  const { runBatch } = await import('../../batch/run-batch.ts');
  return runBatch(ctx, options);
}
