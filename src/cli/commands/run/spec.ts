import type { CommandSpec } from '../../core/command-spec.ts';
import { CAP_FLAGS, INPUT_FLAGS, MODELS_FLAG, OUTPUT_FLAGS } from '../../core/shared-flags.ts';

export const RUN = {
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
  notes: `The target is an alias, a prompt file, the id of a prompt version or of a prompt, or a slug.
Values: key=value as it is, key=@file from a file, key=@- from standard input, key=@@x for a literal @x.`,
} as const satisfies CommandSpec;
