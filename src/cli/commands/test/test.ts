import type { Context } from '../../context.ts';
import { type CapFlags, parseCaps } from '../../creation/caps.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { modelList } from '../../inputs/flags.ts';
import { toJson } from '../../outputs/json.ts';
import { flagOrSetting } from '../../settings/settings.ts';
import { pairOutputs, type Reporter } from '../../testing/report-outputs.ts';
import type { TestOptions } from '../../testing/test-options.ts';

/** The flags of `test`, as commander gives them. */
export interface TestFlags extends CapFlags {
  readonly dryRun?: boolean;
  readonly filter?: string;
  readonly failed?: boolean;
  readonly resume?: boolean;
  readonly update?: boolean;
  readonly judge?: string;
  readonly reporter?: readonly Reporter[];
  readonly out?: readonly string[];
  readonly model?: readonly string[];
  readonly allowCommands?: boolean;
  readonly retryUnknown?: boolean;
  readonly concurrency?: string;
  readonly rate?: string;
  readonly watch?: boolean;
  readonly printSchema?: boolean;
}

/** Runs the cases beside prompt files and checks what comes back. */
export async function test(ctx: Context, paths: readonly string[], flags: TestFlags): Promise<ExitCode> {
  if (flags.printSchema === true) {
    const { testFileSchema } = await import('../../testing/cases/test-file-schema.ts');
    await ctx.io.out(`${toJson(testFileSchema(), false)}\n`);
    return EXIT.ok;
  }
  const options = testOptions(ctx, paths, flags);
  if (options.watch) return (await import('../../testing/watch/watch-tests.ts')).watchTests(ctx, options);
  const { runTests } = await import('../../testing/run-tests.ts');
  return runTests(ctx, options);
}

function testOptions(ctx: Context, paths: readonly string[], flags: TestFlags): TestOptions {
  const { resume = false, failed = false, retryUnknown = false } = flags;
  if (resume && failed) {
    throw usageError('--resume and --failed are both given', 'Resume first; --failed then runs what failed.');
  }
  if (retryUnknown && !resume) throw usageError('--retry-unknown needs --resume');
  return {
    paths,
    filter: flags.filter,
    models: modelList(flags.model ?? []),
    failed,
    resume,
    retryUnknown,
    update: flags.update ?? false,
    judge: flags.judge,
    allowCommands: flags.allowCommands ?? false,
    allowOutside: ctx.globals.allowOutside,
    watch: flags.watch ?? false,
    dryRun: flags.dryRun ?? false,
    caps: parseCaps(flags),
    outputs: pairOutputs(ctx.cwd, flags.reporter ?? [], flags.out ?? []),
    concurrency: flagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: flagOrSetting(ctx.settings, 'rate', flags.rate),
  };
}
