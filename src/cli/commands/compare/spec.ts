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

export const COMPARE = {
  path: 'compare',
  summary: 'compare versions or models on the same rows, side by side',
  arguments: [['<target...>', 'the targets; each is compared with the first']],
  flags: [
    [
      '--from <file>',
      'the rows: a CSV or JSONL file, - for standard input (default: one row, from -i and --image)',
    ],
    ...ROW_FORMAT_FLAGS,
    [
      '-m, --model <models>',
      'run each target with each of these models, separated by commas; repeatable',
      { repeats: true },
    ],
    ...ROW_INPUT_FLAGS,
    ['--report <file>', 'write a page with outputs and pictures side by side'],
    ['--expect <file>', 'check the answers against the cases of this test file'],
    ['--judge <model>', 'with --expect: the model that judges rubrics'],
    ['--allow-commands', 'with --expect: allow the test file to run programs'],
    [
      '--fail-on <condition>',
      'exit 5 if a row changed or failed, or, with --expect, if a target is worse (worse) or may be worse (unsure)',
      { choices: ['changed', 'failed', 'worse', 'unsure'] },
    ],
    ['--margin <percent>', 'with --fail-on unsure: the accepted loss (default: 5%)'],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    PROVIDER_BATCH_FLAG,
    ['--resume', 'resume an interrupted comparison'],
    ['--retry-failed', 'with --resume: rerun failed rows'],
    [
      '--retry-unknown',
      'with --resume: rerun rows whose creation is in doubt, or whose results are gone',
    ],
    CANCEL_FLAG,
    ['--dry-run', 'check every row and estimate the cost, but create nothing'],
  ],
  examples: [
    'compare haiku.prompt@git:HEAD~1 haiku.prompt --from rows.csv',
    'compare haiku -m "llama,qwen" --from rows.csv --report compare.html',
    'compare haiku@0b0c8f0e haiku --from rows.csv --fail-on changed',
    'compare a.prompt b.prompt --from rows.csv --expect a.test.yaml',
    'compare a.prompt b.prompt -i city=Oslo',
  ],
  notes: `Targets are versions, prompt files, or file@git:<revision>.
Columns when piped: row, id, same (or changed or failed), then for each target run id, status, seconds, tokens and \
credits. With --expect, each target also has its result, and a line at the end gives the verdict on each later target, compared \
with the first. A row is checked against the case with the same inputs, or else against the case that the row's id names.`,
} as const satisfies CommandSpec;
