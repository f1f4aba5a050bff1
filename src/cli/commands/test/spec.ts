import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, MODELS_FLAG, PACE_FLAGS } from '../../core/shared-flags.ts';

export const TEST = {
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
    ['--repeat <n>', 'run every case so many times'],
    ['--sure', 'run cases with a required rate until they are decided'],
    ['--max-repeat <n>', 'with --sure: runs of a case at most (default: 100)'],
    ['--baseline <file>', 'compare with an earlier report of --reporter json'],
    [
      '--fail-on <what>',
      'exit 5 if a case failed (the default), the test is worse than --baseline, or may be',
      { choices: ['failed', 'worse', 'unsure'] },
    ],
    ['--margin <percent>', 'with --fail-on unsure: how much worse is accepted (default: 5%)'],
    ['--watch', 'run the cases that a change concerns, until q or Ctrl-C'],
    ['--allow-commands', 'run the programs that test files name'],
    ['--skip-unsupported', 'leave out checks and cases of a promptfoo configuration that have no equivalent'],
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
    MODELS_FLAG,
    ...CAP_FLAGS,
    ['--provider-batch', 'have the provider answer within a day, at half the price'],
    ['--cancel', 'with --resume: cancel what the provider has not answered'],
    ['--dry-run', 'check every case, tell what they would cost, and create nothing'],
    ['--print-schema', 'print the JSON Schema of test files, for editors'],
  ],
  examples: [
    'test',
    'test prompts/extract.test.yaml --filter "reads the date"',
    'test --record recordings',
    'test --baseline results.json --fail-on worse',
    'test --replay recordings --reporter junit --out junit.xml',
  ],
  notes: `A test file x.test.yaml belongs to the prompt file x.prompt beside it, or names a target.
Exit code: 0 all passed, 5 some failed; if a case could not be run, the code of that fault.`,
} as const satisfies CommandSpec;
