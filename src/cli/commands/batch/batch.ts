import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-codes.ts';
import { readBatchOptions } from './batch-flags.ts';
import type { BATCH, BATCH_REPORT } from './spec.ts';

/** Runs a target once for each row of a file. */
export async function batch(
  ctx: Context,
  target: string,
  flags: FlagsOf<typeof BATCH.flags>,
): Promise<ExitCode> {
  const { from } = flags;

  // Commander would require the flag of the subcommands, too.
  if (from === undefined) {
    throw usageError('--from is missing: the file with the rows', 'See: promptrun batch --help');
  }

  const options = readBatchOptions(ctx, target, { ...flags, from });
  const { runBatch } = await import('../../batch/run-batch.ts');
  return runBatch(ctx, options);
}

export async function printBatchReport(
  ctx: Context,
  results: string,
  flags: FlagsOf<typeof BATCH_REPORT.flags>,
): Promise<void> {
  const { reportBatch } = await import('../../batch/report/report-batch.ts');
  await reportBatch(ctx, results, flags.html);
}
