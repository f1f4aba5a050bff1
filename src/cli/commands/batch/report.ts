import type { Context } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';

/** Reports what a batch came to. */
export async function batchReport(
  ctx: Context,
  results: string,
  { html }: { readonly html?: string },
): Promise<ExitCode> {
  const { reportBatch } = await import('../../batch/report/report.ts');
  return reportBatch(ctx, results, html);
}
