import type { CommandSpec } from '../../core/command-spec.ts';
import {
  CANCEL_FLAG,
  CAP_FLAGS,
  MODELS_FLAG,
  PACE_FLAGS,
  PROVIDER_BATCH_FLAG,
  ROW_FORMAT_FLAGS,
  ROW_INPUT_FLAGS,
} from '../../core/shared-flags.ts';

export const BATCH = {
  path: 'batch',
  summary: 'create one run for each row of a CSV or JSONL file',
  arguments: [['<target>', 'an alias, a prompt file, a slug, or the id of a prompt or version']],
  flags: [
    ['--from <file>', 'the rows: a .csv or .jsonl file, - for standard input'],
    ...ROW_FORMAT_FLAGS,
    [
      '--ignore-columns <names>',
      'columns to ignore, separated by commas; * for all that are not inputs',
    ],
    ['--out <file>', 'the file for the results; optional if standard output is piped'],
    ['--resume', 'resume the interrupted batch that wrote --out'],
    ['--retry-failed', 'with --resume: rerun rows that failed'],
    [
      '--retry-unknown',
      'with --resume: rerun rows whose creation is in doubt, which may pay twice',
    ],
    [
      '--changed <run|skip>',
      'with --resume: rerun or skip rows that have changed since they were sent',
      { choices: ['run', 'skip'] },
    ],
    ['--new-rows', 'with --resume, if the journal is gone: treat rows without a result as new'],
    ['--sorted', 'sort the results by row at the end'],
    ['--with-inputs', 'include the inputs in the results'],
    ...ROW_INPUT_FLAGS,
    ['-m, --model <model>', "use this model instead of the prompt's; embedded service only"],
    ['--no-validate', 'send run options even if no model lists them'],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    ['--save <dir>', 'also write the outputs to files in this directory'],
    ['--force', 'overwrite existing files'],
    ['--shard <i/n>', 'run only every nth row, starting with the ith'],
    ['--max-failures <n>', 'start no more rows after n have failed'],
    ['--excel', 'write CSV that is safe to open in a spreadsheet: with a BOM, no formulas'],
    ['--dry-run', 'check every row and estimate the cost, but create nothing'],
    PROVIDER_BATCH_FLAG,
    CANCEL_FLAG,
  ],
  examples: [
    'batch hello --from names.csv --out results.jsonl',
    'batch hello --from names.csv --out out.jsonl --resume --retry-failed',
    'batch postcard --from places.jsonl --out out.jsonl --save pictures',
    'batch hello --from names.csv --dry-run',
    'jq -c "{name}" users.json | promptrun batch hello --from - --format jsonl',
    'batch describe --from photos.csv --out part-1.jsonl --shard 1/4',
  ],
  notes: `Rows: the header of a CSV file names the inputs; image, image1, image2 … are images, and id names the row. An empty cell \
leaves the input out. A line of a JSONL file is a flat object with the same keys, or {id, textInputs, imageInputs}.
-i, --image, -o and -m apply to every row: -i overrides the row's own input, and images of --image come before the row's \
own. Paths in rows are relative to the folder of --from. --timeout limits the whole batch.

Results: one line of JSON for each row as it ends: row, id, runId, runStatus, outputs, tokens, credits, cost, seconds, error. \
--resume continues from the journal next to the results (results.jsonl.journal), even after Ctrl-C or a power cut. The \
journal is removed when every row has ended.`,
} as const satisfies CommandSpec;

export const BATCH_REPORT = {
  path: 'batch report',
  summary: 'show totals, failures by reason and the slowest rows of a batch',
  arguments: [['<results>', 'the JSONL file that the batch wrote']],
  flags: [['--html <file>', 'also write a page with inputs and outputs side by side']],
  examples: [
    'batch report results.jsonl',
    'batch report results.jsonl --html report.html',
    'batch report results.jsonl --query "failures[].reason"',
  ],
  notes: `Columns when piped: figure, value; for failures and slow rows also the rows.
The page is a single file. It shows inputs if the batch ran with --with-inputs, and pictures if it ran with --save.`,
} as const satisfies CommandSpec;
