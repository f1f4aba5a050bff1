import { type Command, Option } from 'commander';
import { type BatchFlags, batchOptions, CHANGED } from '../../batch/options.ts';
import { FORMATS } from '../../batch/rows/source.ts';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { collect } from '../../inputs/flags.ts';
import { declareBatchReport } from './report.ts';

const HELP = `
Rows: the header of a CSV file names text inputs; image, image1, image2 … are images, id names the row. An empty cell
gives nothing. A line of a JSONL file is a flat map of the same, or {id, textInputs, imageInputs}.
-i, --image and -o apply to every row: an input given with -i wins over the row's own, images given with --image stand
before the row's own. Files are found from the working directory. --timeout bounds the wait for each row's run.

Results: one line of JSON for each row as it ends: row, id, runId, runStatus, outputs, tokens, seconds, error. The
journal beside them (results.jsonl.journal) is what --resume goes on from, after Ctrl-C as well as after a power cut; it
is removed when every row has ended.

Examples:
  promptrun batch hello --from names.csv --out results.jsonl
  promptrun batch hello --from names.csv --out results.jsonl --resume --retry-failed
  promptrun batch postcard --from places.jsonl --out results.jsonl --save pictures --concurrency 8
  promptrun batch hello --from names.csv --dry-run
  jq -c '{name: .user}' users.json | promptrun batch hello --from - --format jsonl | jq .outputs
  promptrun batch describe --from photos.csv --out part-1.jsonl --shard 1/4`;

export function declareBatch(command: Command, host: Host, run = batch): void {
  command
    .argument('<target>', 'an alias, a prompt file, the id of a version or a prompt, or a slug')
    .option('--from <file>', 'rows from a .csv or .jsonl file, - for standard input')
    .addOption(new Option('--format <format>', 'what --from holds').choices(FORMATS))
    .option('--out <file>', 'write results there; may be left out where standard output is piped')
    .option('--resume', 'go on with the batch that wrote --out')
    .option('--retry-failed', 'with --resume: run rows that failed again')
    .option('--retry-unknown', 'with --resume: run rows again whose creation is in doubt')
    .addOption(
      new Option('--changed <run|skip>', 'with --resume: rows that are no longer what was sent').choices(
        CHANGED,
      ),
    )
    .option('--new-rows', 'with --resume, where there is no journal: rows without a result are new')
    .option('--sorted', 'leave the results in the order of the rows')
    .option('--with-inputs', 'what was sent stands in the results as well')
    .option('-i, --input <key=value>', 'a text input of every row, repeatable', collect)
    .option('--image <file|url>', 'an image of every row, repeatable', collect)
    .option('-o, --option <key=value>', 'a run option of every row, repeatable', collect)
    .option('--no-validate', 'send run options that no model lists')
    .option('--concurrency <n>', 'creations open at a time (default: 4, or the setting)')
    .option('--rate <n>', 'requests a second, 0 for no limit (default: 5, or the setting)')
    .option('--save <dir>', 'write outputs to files as well')
    .option('--force', 'overwrite files that exist')
    .option('--shard <i/n>', 'only the i-th of n equal parts of the rows')
    .option('--max-failures <n>', 'start no more rows once n have failed')
    .option('--dry-run', 'check every row and create nothing')
    .addHelpText('after', HELP)
    .action((target: string, flags: Partial<BatchFlags>) =>
      host.runAction(command, ctx => run(ctx, target, withRows(flags))),
    );
  declareBatchReport(command.command('report'), host);
}

/** Commander would want a required flag of the commands below this one as well. */
function withRows(flags: Partial<BatchFlags>): BatchFlags {
  const { from } = flags;
  if (from === undefined) {
    throw usageError('--from is missing: the file that holds the rows', 'See: promptrun batch --help');
  }
  return { ...(flags as BatchFlags), from };
}

/** Runs a target once for each row of a file. */
export async function batch(ctx: Context, target: string, flags: BatchFlags): Promise<ExitCode> {
  const options = batchOptions(ctx, target, flags);
  const { runBatch } = await import('../../batch/run-batch.ts');
  return runBatch(ctx, options);
}
