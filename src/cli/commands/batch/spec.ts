import type { CommandSpec } from '../../core/command-spec.ts';
import {
  CAP_FLAGS,
  MODELS_FLAG,
  PACE_FLAGS,
  ROW_FORMAT_FLAGS,
  ROW_INPUT_FLAGS,
} from '../../core/shared-flags.ts';

export const BATCH = {
  path: 'batch',
  summary: 'one run for each row of a CSV or JSONL file',
  arguments: [['<target>', 'an alias, a prompt file, the id of a version or a prompt, or a slug']],
  flags: [
    ['--from <file>', 'rows from a .csv or .jsonl file, - for standard input'],
    ...ROW_FORMAT_FLAGS,
    [
      '--ignore-columns <names>',
      'leave these columns out, separated by commas; * for all that are not inputs',
    ],
    ['--out <file>', 'write results there; may be left out if standard output is piped'],
    ['--resume', 'go on with the batch that wrote --out'],
    ['--retry-failed', 'with --resume: run rows that failed again'],
    ['--retry-unknown', 'with --resume: run rows again whose creation is in doubt'],
    [
      '--changed <run|skip>',
      'with --resume: rows that are no longer what was sent',
      { choices: ['run', 'skip'] },
    ],
    ['--new-rows', 'with --resume, if there is no journal: rows without a result are new'],
    ['--sorted', 'leave the results in the order of the rows'],
    ['--with-inputs', 'what was sent stands in the results as well'],
    ...ROW_INPUT_FLAGS,
    ['-m, --model <model>', "another model than the prompt names; this machine's own service only"],
    ['--no-validate', 'send run options that no model lists'],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    ['--save <dir>', 'write outputs to files as well'],
    ['--force', 'overwrite files that exist'],
    ['--shard <i/n>', 'only the i-th of n equal parts of the rows'],
    ['--max-failures <n>', 'start no more rows once n have failed'],
    ['--excel', 'results as CSV that a spreadsheet opens safely: a BOM, and no formulas'],
    ['--dry-run', 'check every row, tell what they would cost, and create nothing'],
    ['--provider-batch', 'have the provider answer within a day, at half the price'],
    ['--cancel', 'with --resume: cancel what the provider has not answered'],
  ],
  examples: [
    'batch hello --from names.csv --out results.jsonl',
    'batch hello --from names.csv --out out.jsonl --resume --retry-failed',
    'batch postcard --from places.jsonl --out out.jsonl --save pictures',
    'batch hello --from names.csv --dry-run',
    "jq -c '{name}' users.json | promptrun batch hello --from - --format jsonl",
    'batch describe --from photos.csv --out part-1.jsonl --shard 1/4',
  ],
  notes: `Rows: the header of a CSV file names inputs; image, image1, image2 … are images, too, id names the row. An empty cell leaves \
the input out. A line of a JSONL file is a flat map of the same, or {id, textInputs, imageInputs}.
-i, --image, -o and -m apply to every row: an input given with -i wins over the row's own, images given with --image stand \
before the row's own. Files are found from the folder of --from. --timeout bounds the whole batch.

Results: one line of JSON for each row as it ends: row, id, runId, runStatus, outputs, tokens, credits, cost, seconds, error. The \
journal beside them (results.jsonl.journal) is what --resume goes on from, after Ctrl-C as well as after a power cut; it \
is removed when every row has ended.`,
} as const satisfies CommandSpec;

export const BATCH_REPORT = {
  path: 'batch report',
  summary: 'totals, failures by reason and the slowest rows of a batch',
  arguments: [['<results>', 'the file that the batch wrote, as JSONL']],
  flags: [['--html <file>', 'write a page with inputs beside outputs as well']],
  examples: [
    'batch report results.jsonl',
    'batch report results.jsonl --html report.html',
    "batch report results.jsonl --query 'failures[].reason'",
  ],
  notes: `Piped, a line is: what, how many, and for failures and slow rows which.
The page is one file; inputs are in it if the batch was run --with-inputs, pictures if it was run with --save.`,
} as const satisfies CommandSpec;
