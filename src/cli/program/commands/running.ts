import type { CommandSpec } from '../../core/command-spec.ts';
import {
  CAP_FLAGS,
  INPUT_FLAGS,
  OUTPUT_FLAGS,
  PACE_FLAGS,
  ROW_FORMAT_FLAGS,
  ROW_INPUT_FLAGS,
} from './shared-flags.ts';

/** The commands that create runs. */
export const RUNNING_COMMANDS: readonly CommandSpec[] = [
  {
    path: 'run',
    summary: 'create a run, wait for it, give its outputs',
    arguments: [['[target]', 'what to run; asked for on a terminal']],
    flags: [
      ...INPUT_FLAGS,
      ['-m, --model <model>', "another model than the prompt names; this machine's own service only"],
      ['-o, --option <key=value>', 'a run option, repeatable', { repeats: true, completes: 'runOptions' }],
      ['--ask', 'ask for every input that is not given, optional ones too'],
      ['--no-validate', 'send run options that no model lists'],
      ['--no-stream', 'print text when it is whole, not while it is made'],
      ['--no-wait', 'print the run id instead of waiting for the run'],
      ['--dry-run', 'print what would be sent and what it would cost, and create nothing'],
      ...CAP_FLAGS,
      ...OUTPUT_FLAGS,
    ],
    examples: [
      'run hello -i name=Ada',
      'run postcard -i place=Lisbon --save pictures',
      'run ./my.prompt --inputs inputs.yaml --image photo.jpg',
      'git diff | promptrun run review -i diff=@- -o reasoningEffort=low',
    ],
    notes: `The target is an alias, a prompt file, the id of a prompt version or of a prompt, or a slug.
Values: key=value as it is, key=@file from a file, key=@- from standard input, key=@@x for a literal @x.`,
    load: () => import('../../commands/run/run-target.ts').then(file => file.runTarget),
  },
  {
    path: 'batch',
    summary: 'one run for each row of a CSV or JSONL file',
    arguments: [['<target>', 'an alias, a prompt file, the id of a version or a prompt, or a slug']],
    flags: [
      ['--from <file>', 'rows from a .csv or .jsonl file, - for standard input'],
      ...ROW_FORMAT_FLAGS,
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
      ['--no-validate', 'send run options that no model lists'],
      ...PACE_FLAGS,
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
    notes: `Rows: the header of a CSV file names inputs; image, image1, image2 … are images, too, id names the row. An empty cell gives
nothing. A line of a JSONL file is a flat map of the same, or {id, textInputs, imageInputs}.
-i, --image and -o apply to every row: an input given with -i wins over the row's own, images given with --image stand
before the row's own. Files are found from the folder of --from. --timeout bounds the whole batch.

Results: one line of JSON for each row as it ends: row, id, runId, runStatus, outputs, tokens, credits, cost, seconds, error. The
journal beside them (results.jsonl.journal) is what --resume goes on from, after Ctrl-C as well as after a power cut; it
is removed when every row has ended.`,
    load: () => import('../../commands/batch/batch.ts').then(file => file.batch),
  },
  {
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
    load: () => import('../../batch/report/report.ts').then(file => file.reportBatch),
  },
  {
    path: 'test',
    summary: 'run the cases beside prompt files and check what comes back',
    arguments: [
      [
        '[path...]',
        'test files, or directories to look for *.test.yaml in; default: this directory',
        'testFiles',
      ],
    ],
    flags: [
      ['--filter <words>', 'only cases with these words in their name or file'],
      ['--failed', 'only cases that did not pass when they were last run'],
      ['--resume', 'go on with a test that was interrupted'],
      ['--retry-unknown', 'with --resume: run cases again whose creation is in doubt'],
      ['--update', 'write what came as what is expected, for equals and json'],
      ['--judge <model>', 'the model that judges rubrics'],
      [
        '-m, --model <models>',
        'run every case with each of these models, separated by commas',
        { repeats: true },
      ],
      ['--watch', 'run the cases that a change concerns, until q or Ctrl-C'],
      ['--allow-commands', 'run the programs that test files name'],
      [
        '--reporter <name>',
        'the form of a report, repeatable',
        { repeats: true, choices: ['junit', 'json', 'github', 'html', 'markdown'] },
      ],
      [
        '--out <file>',
        'write the report to this file; the nth belongs to the nth --reporter',
        { repeats: true },
      ],
      ...PACE_FLAGS,
      ...CAP_FLAGS,
      ['--dry-run', 'check every case, tell what they would cost, and create nothing'],
      ['--print-schema', 'print the JSON Schema of test files, for editors'],
    ],
    examples: [
      'test',
      'test prompts/extract.test.yaml --filter "reads the date"',
      'test --record recordings',
      'test --replay recordings --reporter junit --out junit.xml',
    ],
    notes: `A test file x.test.yaml belongs to the prompt file x.prompt beside it, or names a target.
Exit code: 0 all passed, 5 some failed; if a case could not be run, the code of that fault.`,
    load: () => import('../../commands/test/test.ts').then(file => file.test),
  },
  {
    path: 'mcp',
    summary: 'prompts for agents, over the Model Context Protocol',
    flags: [
      ['--prompts <dir>', 'offer the prompt files there too'],
      ['--allow <prompt>', 'only this prompt can be run; repeatable', { repeats: true }],
      ...CAP_FLAGS,
    ],
    examples: ['mcp', 'mcp --allow hello --max-credits 100', 'mcp --prompts ./prompts'],
    notes: `Speaks the protocol on standard input and output; notes go to standard error.
Most clients take this in their configuration (.mcp.json, mcp.json,
claude_desktop_config.json):

  {"mcpServers": {"promptrun": {"command": "promptrun", "args": ["mcp"]}}}

VS Code (.vscode/mcp.json) calls it "servers"; Claude Code adds it with
claude mcp add promptrun -- promptrun mcp. More: promptrun help agents`,
    load: () => import('../../commands/mcp/mcp.ts').then(file => file.mcp),
  },
  {
    path: 'compare',
    summary: 'the same rows through several versions or models, side by side',
    arguments: [['<target...>', 'what to compare; the first is what the others are compared with']],
    flags: [
      ['--from <file>', 'the rows: a CSV or JSONL file, - for standard input', { required: true }],
      ...ROW_FORMAT_FLAGS,
      [
        '-m, --model <models>',
        'run each target with each of these models, separated by commas',
        { repeats: true },
      ],
      ...ROW_INPUT_FLAGS,
      ['--report <file>', 'write a page with outputs and pictures side by side'],
      ['--fail-on <what>', 'exit 5 if a row has this', { choices: ['changed', 'failed'] }],
      ...PACE_FLAGS,
      ...CAP_FLAGS,
      ['--dry-run', 'check every row, tell what they would cost, and create nothing'],
    ],
    examples: [
      'compare haiku.prompt@git:HEAD~1 haiku.prompt --from rows.csv',
      'compare haiku -m llama,qwen --from rows.jsonl --report compare.html',
      'compare haiku@0b0c8f0e haiku --from rows.csv --fail-on changed',
    ],
    notes: `Targets are versions, prompt files, or file@git:<revision>. Piped, a line is: row, id, same, changed or failed, and of
each target run id, status, seconds, tokens and credits.`,
    load: () => import('../../commands/compare/compare.ts').then(file => file.compare),
  },
];
