import type { CommandSpec } from '../../core/command-spec.ts';
import {
  CANCEL_FLAG,
  CAP_FLAGS,
  MODELS_FLAG,
  PACE_FLAGS,
  PROVIDER_BATCH_FLAG,
} from '../../core/shared-flags.ts';

export const JUDGE = {
  path: 'judge',
  summary: 'check how well a judging model agrees with your labels',
  examples: ['judge check labels.csv --judge openai/gpt-6-luna'],
} as const satisfies CommandSpec;

export const JUDGE_CHECK = {
  path: 'judge check',
  summary: 'measure how well a judging model agrees with your labels',
  arguments: [
    [
      '<labels>',
      'a CSV or JSONL file with output, rubric and label; - for standard input',
      { completes: 'files' },
    ],
  ],
  flags: [
    ['--judge <model>', 'the model to check (default: the setting judge)', { completes: 'models' }],
    ['--rubric <text>', 'the rubric for rows without one'],
    [
      '--format <format>',
      'the format of the labels (default: by file name)',
      { choices: ['csv', 'jsonl'] },
    ],
    [
      '--delimiter <character>',
      'the separator of CSV cells: , ; or tab (default: detected in the header)',
    ],
    [
      '--repeat <n>',
      'ask n times about each row, to measure how often the judge agrees with itself',
    ],
    ['--min-kappa <number>', "exit 5 if Cohen's kappa is below this number"],
    ['--sure', 'with --min-kappa: also exit 5 if the low end of its interval is below it'],
    ['--resume', 'resume an interrupted check'],
    ['--retry-unknown', 'with --resume: repeat questions that failed or may have been asked'],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    PROVIDER_BATCH_FLAG,
    CANCEL_FLAG,
  ],
  examples: [
    'judge check labels.csv --judge openai/gpt-6-luna',
    'judge check labels.jsonl --judge llama --min-kappa 0.6',
    'judge check labels.csv --rubric "is polite" --repeat 3 --json',
  ],
  notes: `A label is pass or fail, yes or no, true or false, 1 or 0. The judge is asked \
the same question as for a rubric in a test. Kappa measures agreement with the \
labels beyond chance: 1 is full agreement, 0 is no better than chance.`,
} as const satisfies CommandSpec;
