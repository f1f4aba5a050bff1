import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG, PACE_FLAGS } from '../../core/shared-flags.ts';

export const JUDGE = {
  path: 'judge',
  summary: 'check a model that judges answers',
  examples: ['judge check labels.csv --judge openai/gpt-6-luna'],
} as const satisfies CommandSpec;

export const JUDGE_CHECK = {
  path: 'judge check',
  summary: 'measure how well a judging model agrees with labels of yours',
  arguments: [
    ['<labels>', 'rows with output, rubric and label, as CSV or JSONL; - for standard input', 'files'],
  ],
  flags: [
    ['--judge <model>', 'the model to check; default: the setting judge', { completes: 'models' }],
    ['--rubric <text>', 'the rubric of rows that have none'],
    ['--format <format>', 'what the labels are written in', { choices: ['csv', 'jsonl'] }],
    ['--delimiter <character>', 'what separates cells of CSV: , ; or tab (default: as the header has it)'],
    ['--repeat <n>', 'ask so many times about each row: how often the judge agrees with itself'],
    ['--min-kappa <number>', "exit 5 if Cohen's kappa is lower"],
    ['--sure', 'with --min-kappa: exit 5 also if the low end of its interval is lower'],
    ['--resume', 'go on with a check that was interrupted'],
    ['--retry-unknown', 'with --resume: ask again what may have been asked'],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    ['--provider-batch', 'have the provider answer within a day, at half the price'],
    ['--cancel', 'with --resume: cancel what the provider has not answered'],
  ],
  examples: [
    'judge check labels.csv --judge openai/gpt-6-luna',
    'judge check labels.jsonl --judge llama --min-kappa 0.6',
    'judge check labels.csv --rubric "is polite" --repeat 3 --json',
  ],
  notes: `A label is pass or fail, yes or no, true or false, 1 or 0. The judge is asked \
as a rubric of a test asks. Kappa is how far it agrees with the labels beyond \
chance: 1 is always, 0 is no more than chance.`,
} as const satisfies CommandSpec;
