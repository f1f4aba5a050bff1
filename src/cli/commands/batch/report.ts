import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import type { ExitCode } from '../../exit-codes.ts';

const EXAMPLES = `
Examples:
  promptrun batch report results.jsonl
  promptrun batch report results.jsonl --html report.html
  promptrun batch report results.jsonl --query 'failures[].reason'

Piped, a line is: what, how many, and for failures and slow rows which.
The page is one file; inputs are in it where the batch was run --with-inputs, pictures where it was run with --save.`;

/** Declares `batch report`. */
export function declareBatchReport(command: Command, host: Host, run = batchReport): void {
  command
    .description('totals, failures by reason and the slowest rows of a batch')
    .argument('<results>', 'the file that the batch wrote, as JSONL')
    .option('--html <file>', 'write a page with inputs beside outputs as well')
    .addHelpText('after', EXAMPLES)
    .action((results: string, { html }: { html?: string }) =>
      host.runAction(command, ctx => run(ctx, results, html)),
    );
}

async function batchReport(ctx: Context, results: string, html: string | undefined): Promise<ExitCode> {
  const { reportBatch } = await import('../../batch/report/report.ts');
  return reportBatch(ctx, results, html);
}
