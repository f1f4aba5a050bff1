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
    MODELS_FLAG,
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
} as const satisfies CommandSpec;
