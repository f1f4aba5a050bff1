import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, INPUT_FLAGS, MODELS_FLAG, OUTPUT_FLAGS } from '../../core/shared-flags.ts';

export const RUN = {
  path: 'run',
  summary: 'create a run, wait for it and print its outputs',
  arguments: [
    [
      '[target]',
      'an alias, a prompt file, a slug, or the id of a prompt or version (default: ask on a terminal)',
    ],
  ],
  flags: [
    ...INPUT_FLAGS,
    ['-m, --model <model>', "use this model instead of the prompt's; embedded service only"],
    [
      '-o, --option <key=value>',
      'a run option; repeatable',
      { repeats: true, completes: 'runOptions' },
    ],
    ['--ask', 'ask for every missing input, even optional ones'],
    ['--no-validate', 'send run options even if no model lists them'],
    ['--no-stream', 'print text when it is complete, not as it arrives'],
    ['--no-wait', 'print the run id instead of waiting for the run'],
    ['--dry-run', 'print the request and its estimated cost, but create nothing'],
    MODELS_FLAG,
    ...CAP_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    'run hello -i name=Ada',
    'run postcard -i place=Lisbon --save pictures',
    'run ./my.prompt --inputs inputs.yaml --image photo.jpg',
    'git diff | promptrun run review -i diff=@- -o reasoningEffort=low',
  ],
  notes: `Values: key=value for text, key=@file to read a file, key=@- to read standard input, key=@@x for a literal @x.`,
} as const satisfies CommandSpec;
