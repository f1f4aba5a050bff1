import type { Command } from 'commander';
import type { Host } from '../../context.ts';
import { collect } from '../../inputs/flags.ts';
import { declareOutputFlags } from '../../outputs/output-flags.ts';
import type { RunFlags } from './run-argv.ts';
import type { runTarget } from './run-target.ts';

const EXAMPLES = `
Examples:
  promptrun run hello -i name=Ada
  promptrun run postcard -i place=Lisbon --save pictures
  promptrun run ./my.prompt --inputs inputs.yaml --image photo.jpg
  git diff | promptrun run 0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55 -i diff=@- -o reasoningEffort=low

The target is an alias, a prompt file, the id of a prompt version or of a prompt, or a slug.
Values: key=value as it is, key=@file from a file, key=@- from standard input, key=@@x for a literal @x.`;

export function declareRun(command: Command, host: Host, run = runTargetLate): void {
  declareOutputFlags(
    command
      .argument('[target]', 'what to run; asked for on a terminal')
      .option('-i, --input <key=value>', 'a text input, repeatable', collect, [])
      .option('--inputs <file>', 'inputs from a JSON or YAML file, - for standard input')
      .option('--image <file|url>', 'an image input, repeatable, in order; - for standard input', collect, [])
      .option('-m, --model <model>', "another model than the prompt names; this machine's own service only")
      .option('-o, --option <key=value>', 'a run option, repeatable', collect, [])
      .option('--ask', 'ask for every input that is not given, optional ones too')
      .option('--no-validate', 'send run options that no model lists')
      .option('--no-stream', 'print text when it is whole, not while it is made')
      .option('--no-wait', 'print the run id instead of waiting for the run')
      .option('--dry-run', 'print what would be sent, and create nothing'),
  )
    .addHelpText('after', EXAMPLES)
    .action((target: string | undefined, flags: RunFlags) =>
      host.runAction(command, ctx => run(ctx, target, flags)),
    );
}

/** Loaded when a run is wanted: completion and help need the flags alone. */
const runTargetLate: typeof runTarget = async (...all) => (await import('./run-target.ts')).runTarget(...all);
