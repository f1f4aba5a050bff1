import type { CommandSpec } from '../../core/command-spec.ts';
import {
  CAP_FLAGS,
  MODELS_FLAG,
  PACE_FLAGS,
  ROW_FORMAT_FLAGS,
  ROW_INPUT_FLAGS,
} from '../../core/shared-flags.ts';

export const COMPARE = {
  path: 'compare',
  summary: 'the same rows through several versions or models, side by side',
  arguments: [['<target...>', 'what to compare; the first is what the others are compared with']],
  flags: [
    [
      '--from <file>',
      'the rows: a CSV or JSONL file, - for standard input; default: one row, of -i and --image',
    ],
    ...ROW_FORMAT_FLAGS,
    [
      '-m, --model <models>',
      'run each target with each of these models, separated by commas',
      { repeats: true },
    ],
    ...ROW_INPUT_FLAGS,
    ['--report <file>', 'write a page with outputs and pictures side by side'],
    ['--expect <file>', 'judge the answers by the cases of this test file'],
    ['--judge <model>', 'with --expect: the model that judges rubrics'],
    ['--allow-commands', 'with --expect: run the programs that the test file names'],
    [
      '--fail-on <what>',
      'exit 5 if a row changed or failed, or a target is worse by --expect, or may be',
      { choices: ['changed', 'failed', 'worse', 'unsure'] },
    ],
    ['--margin <percent>', 'with --fail-on unsure: how much worse is accepted (default: 5%)'],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    ['--provider-batch', 'have the provider answer within a day, at half the price'],
    ['--resume', 'with --provider-batch: collect what was left at the provider'],
    ['--cancel', 'with --resume: cancel what the provider has not answered'],
    ['--retry-unknown', 'with --resume: run rows again whose results are gone'],
    ['--dry-run', 'check every row, tell what they would cost, and create nothing'],
  ],
  examples: [
    'compare haiku.prompt@git:HEAD~1 haiku.prompt --from rows.csv',
    'compare haiku -m llama,qwen --from rows.jsonl --report compare.html',
    'compare haiku@0b0c8f0e haiku --from rows.csv --fail-on changed',
    'compare a.prompt b.prompt --from rows.csv --expect a.test.yaml',
    'compare a.prompt b.prompt -i city=Oslo',
  ],
  notes: `Targets are versions, prompt files, or file@git:<revision>.
Piped, a line is: row, id, same, changed or failed, and of each target run id, status, seconds, \
tokens and credits; with --expect also whether it passed, and a line for each \
later target: verdict, target, the verdict against the first. A row is judged by \
the case with equal inputs, or else by the case whose name is the row's id.`,
} as const satisfies CommandSpec;
