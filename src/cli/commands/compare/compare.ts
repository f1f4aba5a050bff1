import type { Format } from '../../batch/rows/source.ts';
import type { Context } from '../../context.ts';
import { type CapFlags, parseCaps } from '../../creation/caps.ts';
import { usageError } from '../../errors.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { modelList, readsStandardInput } from '../../inputs/flags.ts';
import { flagOrSetting } from '../../settings/settings.ts';
import type { CompareOptions } from '../../testing/compare/compare.ts';

/** The flags of `compare`, as commander gives them. */
export interface CompareFlags extends CapFlags {
  readonly delimiter?: string;
  readonly dryRun?: boolean;
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
    allowOutside: ctx.globals.allowOutside,
    delimiter: flags.delimiter,
    dryRun: flags.dryRun ?? false,
    caps: parseCaps(flags),
    report: flags.report,
    failOn: flags.failOn,
    concurrency: flagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: flagOrSetting(ctx.settings, 'rate', flags.rate),
  };
}
