import path from 'node:path';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { expandWildcards } from '../../core/wildcards.ts';
import { parseCaps } from '../../creation/spending/caps.ts';
import { parseModelNames } from '../../inputs/flag-values.ts';
import { usesProviderBatch } from '../../jobs/provider-batch/batch-flags.ts';
import { readFlagOrSetting } from '../../settings/settings.ts';
import { parseMargin, type TestGate } from '../../statistics/verdict-gate.ts';
import { MAX_REPEAT, type RepeatOptions } from '../../testing/cases/repeat-cases.ts';
import type { Reporter, ReportOutput, TestOptions } from '../../testing/test-options.ts';
import type { TEST } from './spec.ts';

export type TestFlags = FlagsOf<typeof TEST.flags>;

/** Checks the flags. @throws {CliError} USAGE_ERROR if they can't be combined */
export function readTestOptions(
  ctx: Context,
  paths: readonly string[],
  flags: TestFlags,
): TestOptions {
  refuseResumeConflicts(flags);
  refuseProviderBatchConflicts(flags);
  return {
    paths: expandWildcards(paths, ctx.cwd),
    filter: flags.filter,
    models: parseModelNames(flags.model),
    failed: flags.failed ?? false,
    resume: flags.resume ?? false,
    retryUnknown: flags.retryUnknown ?? false,
    providerBatch: usesProviderBatch(ctx, flags),
    cancel: flags.cancel ?? false,
    update: flags.update ?? false,
    judgeModel: flags.judge,
    allowCommands: flags.allowCommands ?? false,
    skipUnsupported: flags.skipUnsupported ?? false,
    allowOutside: ctx.globals.allowOutside,
    watch: flags.watch ?? false,
    dryRun: flags.dryRun ?? false,
    repeating: readRepeatOptions(flags),
    baselinePath: readBaselinePath(flags),
    gate: readTestGate(flags),
    caps: parseCaps(flags),
    outputs: pairOutputs(ctx.cwd, flags.reporter, flags.out),
    concurrency: readFlagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: readFlagOrSetting(ctx.settings, 'rate', flags.rate),
  };
}

/** Refuses flags that need `--resume`, or can't be used with it. @throws {CliError} USAGE_ERROR */
function refuseResumeConflicts({
  resume = false,
  failed = false,
  retryUnknown = false,
  cancel = false,
}: TestFlags): void {
  if (resume && failed) {
    throw usageError(
      "--resume and --failed can't be used together",
      'Resume first; --failed then runs what failed.',
    );
  }
  if (retryUnknown && !resume) throw usageError('--retry-unknown needs --resume');
  if (cancel && !resume) throw usageError('--cancel needs --resume');
}

/** Refuses flags that can't be combined with a provider's batch. @throws {CliError} USAGE_ERROR */
function refuseProviderBatchConflicts({
  providerBatch = false,
  watch = false,
  sure = false,
}: TestFlags): void {
  if (providerBatch && watch) {
    throw usageError("--provider-batch can't be used with --watch: it takes up to a day");
  }
  if (providerBatch && sure) {
    throw usageError(
      "--provider-batch can't be used with --sure",
      'How often a case runs depends on its answers, which a batch returns all at once: use --repeat.',
    );
  }
}

/**
 * Returns the path of the baseline.
 *
 * @throws {CliError} USAGE_ERROR with flags that run only some of the cases
 */
function readBaselinePath({
  baseline,
  failed = false,
  watch = false,
}: TestFlags): string | undefined {
  if (baseline === undefined) return undefined;

  if (failed) {
    throw usageError(
      "--baseline and --failed can't be used together",
      'Cases that were chosen because they failed look better by chance: run all of them.',
    );
  }

  if (watch) {
    throw usageError("--baseline can't be used with --watch: a round runs some cases only");
  }

  return baseline;
}

function readTestGate({ failOn = 'failed', margin, baseline }: TestFlags): TestGate {
  if (margin !== undefined && failOn !== 'unsure') {
    throw usageError('--margin needs --fail-on unsure');
  }

  if (failOn === 'failed') return { failOn };

  if (baseline === undefined) {
    throw usageError(
      `--fail-on ${failOn} needs --baseline: the report to compare with`,
      'For example: --baseline results.json',
    );
  }

  return failOn === 'worse' ? { failOn } : { failOn, margin: parseMargin(margin) };
}

/** Default maximum number of runs of a case with `--sure`. */
const DEFAULT_MAX_REPEAT = 100;

function readRepeatOptions({ repeat, sure = false, maxRepeat }: TestFlags): RepeatOptions {
  if (maxRepeat !== undefined && !sure) throw usageError('--max-repeat needs --sure');
  return {
    repeat: repeat === undefined ? undefined : parseRunCount('--repeat', repeat),
    sure,
    maxRepeat:
      maxRepeat === undefined ? DEFAULT_MAX_REPEAT : parseRunCount('--max-repeat', maxRepeat),
  };
}

function parseRunCount(flag: string, text: string): number {
  const count = /^\d{1,9}$/u.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_REPEAT) return count;
  throw usageError(
    `${flag} takes a whole number from 1 to ${MAX_REPEAT}, not ${JSON.stringify(text)}`,
  );
}

/** Pairs the nth report with the nth file. `-` stands for standard output. */
function pairOutputs(
  cwd: string,
  reporters: readonly Reporter[],
  files: readonly string[],
): readonly ReportOutput[] {
  if (files.length > reporters.length) {
    throw usageError(
      '--out needs --reporter: the form of the report',
      'For example: --reporter junit --out junit.xml',
    );
  }

  const outputs = reporters.map((reporter, index) => ({
    reporter,
    out: files[index] === '-' ? undefined : files[index],
  }));

  const absolutePaths = outputs.map(({ out }) =>
    out === undefined ? '-' : path.resolve(cwd, out),
  );
  const duplicateOutput = outputs.find(
    (_, index) => absolutePaths.indexOf(absolutePaths[index] ?? '') < index,
  );
  if (duplicateOutput === undefined) return outputs;

  throw usageError(
    duplicateOutput.out === undefined
      ? 'two reports go to standard output'
      : `--out: two reports go to ${duplicateOutput.out}`,
    'Give each --reporter an --out of its own; the nth belongs to the nth.',
  );
}
