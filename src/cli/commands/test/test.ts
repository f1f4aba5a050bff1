import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { toJson } from '../../outputs/print-json.ts';
import { readTestOptions, type TestFlags } from './test-flags.ts';

/** Runs the test cases next to prompt files and checks the answers. */
export async function test(
  ctx: Context,
  paths: readonly string[],
  flags: TestFlags,
): Promise<ExitCode> {
  if (flags.printSchema === true) {
    const { buildTestFileSchema } = await import('../../testing/cases/test-file-schema.ts');
    await ctx.io.out(`${await toJson(buildTestFileSchema())}\n`);
    return EXIT.ok;
  }

  const options = readTestOptions(ctx, paths, flags);
  if (options.watch) {
    return (await import('../../testing/watch/watch-tests.ts')).watchTests(ctx, options);
  }

  const { runTests } = await import('../../testing/run-tests.ts');
  return runTests(ctx, options);
}
