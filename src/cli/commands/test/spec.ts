import type { CommandSpec } from '../../core/command-spec.ts';
import {
  CANCEL_FLAG,
  CAP_FLAGS,
  MODELS_FLAG,
  PACE_FLAGS,
  PROVIDER_BATCH_FLAG,
} from '../../core/shared-flags.ts';

export const TEST = {
  path: 'test',
  summary: 'run the test cases next to prompt files and check the answers',
  arguments: [
    [
      '[path...]',
      'test files, or directories with *.test.yaml files (default: the current directory)',
      { completes: 'testFiles' },
    ],
  ],
  flags: [
    ['--filter <words>', 'run only cases with these words in their name or file'],
    ['--failed', 'run only cases that did not pass last time'],
    ['--resume', 'resume an interrupted test'],
    [
      '--retry-unknown',
      'with --resume: rerun cases whose creation is in doubt, which may pay twice',
    ],
    ['--update', 'replace the expected values of equals and json with the answers'],
    ['--judge <model>', 'the model that judges rubrics'],
    [
      '-m, --model <models>',
      'run every case with each of these models, separated by commas; repeatable',
      { repeats: true },
    ],
    ['--repeat <n>', 'run every case n times'],
    ['--sure', 'repeat cases with a required rate until their verdict is certain'],
    ['--max-repeat <n>', 'with --sure: maximum number of runs per case (default: 100)'],
    ['--baseline <file>', 'compare with an earlier report of --reporter json'],
    [
      '--fail-on <condition>',
      'exit 5 if a case failed (failed, the default), or if the test is worse (worse) or may be worse (unsure) than --baseline',
      { choices: ['failed', 'worse', 'unsure'] },
    ],
    ['--margin <percent>', 'with --fail-on unsure: the accepted loss (default: 5%)'],
    ['--watch', 'rerun the cases that a change affects, until q or Ctrl-C'],
    ['--allow-commands', 'allow test files to run programs'],
    [
      '--skip-unsupported',
      'leave out checks and cases of a promptfoo configuration that have no equivalent',
    ],
    [
      '--reporter <name>',
      'the format of a report; repeatable',
      { repeats: true, choices: ['junit', 'json', 'github', 'html', 'markdown'] },
    ],
    [
      '--out <file>',
      'write the report to this file (- for standard output); the nth --out is for the nth --reporter',
      { repeats: true },
    ],
    ...PACE_FLAGS,
    MODELS_FLAG,
    ...CAP_FLAGS,
    PROVIDER_BATCH_FLAG,
    CANCEL_FLAG,
    ['--dry-run', 'check every case and estimate the cost, but create nothing'],
    ['--print-schema', 'print the JSON Schema of test files, for editors'],
  ],
  examples: [
    'test',
    'test prompts/extract.test.yaml --filter "reads the date"',
    'test --record recordings',
    'test --baseline results.json --fail-on worse',
    'test --replay recordings --reporter junit --out junit.xml',
  ],
  notes: `A test file x.test.yaml tests the prompt file x.prompt next to it, or the target that it names.
Exit code: 0 if all cases passed, 5 if some failed. If cases could not run, the code of the first such fault, even if others failed.`,
} as const satisfies CommandSpec;
