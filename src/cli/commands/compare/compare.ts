import { type Command, Option } from 'commander';
import { FORMATS, type Format } from '../../batch/rows/source.ts';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { collect, modelList, readsStandardInput } from '../../inputs/flags.ts';
import { flagOrSetting } from '../../settings/settings.ts';
import type { CompareOptions } from '../../testing/compare/compare.ts';

const EXAMPLES = `
Examples:
  promptrun compare haiku.prompt@git:HEAD~1 haiku.prompt --from rows.csv
  promptrun compare haiku -m llama,qwen --from rows.jsonl --report compare.html
  promptrun compare haiku@0b0c8f0e haiku --from rows.csv --fail-on changed

Targets are versions, prompt files, or file@git:<revision>. Piped, a line is: row, id, same, changed or failed, and of
each target run id, status, seconds, tokens and credits.`;

/** The flags of `compare`, as commander gives them. */
export interface CompareFlags {
  readonly from: string;
  readonly format?: Format;
  readonly model: readonly string[];
  readonly input: readonly string[];
  readonly image: readonly string[];
  readonly option: readonly string[];
  readonly report?: string;
  readonly failOn?: 'changed' | 'failed';
  readonly concurrency?: string;
  readonly rate?: string;
}

export function declareCompare(command: Command, host: Host, run = compare): void {
  command
    .argument('<target...>', 'what to compare; the first is what the others are held against')
    .requiredOption('--from <file>', 'the rows: a CSV or JSONL file, - for standard input')
    .addOption(new Option('--format <format>', 'the form of standard input').choices(FORMATS))
    .option(
      '-m, --model <models>',
      'run each target with each of these models, separated by commas',
      collect,
      [],
    )
    .option('-i, --input <key=value>', 'a text input of every row, repeatable', collect, [])
    .option('--image <file|url>', 'an image input of every row, repeatable', collect, [])
    .option('-o, --option <key=value>', 'a run option of every row, repeatable', collect, [])
    .option('--report <file>', 'write a page with outputs and pictures side by side')
    .addOption(new Option('--fail-on <what>', 'exit 5 where a row has this').choices(['changed', 'failed']))
    .option('--concurrency <n>', 'creations open at a time')
    .option('--rate <n>', 'requests a second, 0 for no limit')
    .addHelpText('after', EXAMPLES)
    .action((targets: string[], flags: CompareFlags) =>
      host.runAction(command, ctx => run(ctx, targets, flags)),
    );
}

/** Runs the same rows through several versions or models, side by side. */
export async function compare(
  ctx: Context,
  targets: readonly string[],
  flags: CompareFlags,
): Promise<ExitCode> {
  const options = compareOptions(ctx, targets, flags);
  const { compare: comparePrompts } = await import('../../testing/compare/compare.ts');
  return comparePrompts(ctx, options);
}

function compareOptions(ctx: Context, targets: readonly string[], flags: CompareFlags): CompareOptions {
  const { from, input, image } = flags;
  if (from === '-' && (input.some(readsStandardInput) || image.includes('-'))) {
    throw usageError(
      'standard input can be read once only, and --from - reads it',
      'Give the other one from a file.',
    );
  }
  return {
    targets,
    models: modelList(flags.model),
    from,
    format: flags.format,
    inputs: input,
    images: image,
    runOptions: flags.option,
    report: flags.report,
    failOn: flags.failOn,
    concurrency: flagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: flagOrSetting(ctx.settings, 'rate', flags.rate),
  };
}
