import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Context, Host } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { collect, modelList } from '../../inputs/flags.ts';
import { toJson } from '../../outputs/json.ts';
import { flagOrSetting } from '../../settings/settings.ts';
import { pairOutputs, REPORTERS, type Reporter } from '../../testing/report-outputs.ts';
import type { TestOptions } from '../../testing/run-tests.ts';

const EXAMPLES = `
Examples:
  promptrun test
  promptrun test prompts/extract.test.yaml --filter "reads the date"
  promptrun test --record recordings
  promptrun test --replay recordings --reporter junit --out junit.xml

A test file x.test.yaml belongs to the prompt file x.prompt beside it, or names a target.
Exit code: 0 all passed, 5 some failed; where a case could not be run, the code of that fault.`;

/** The flags of `test`, as commander gives them. */
export interface TestFlags {
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
  readonly printSchema?: boolean;
}

export function declareTest(command: Command, host: Host, run = test): void {
  command
    .argument('[path...]', 'test files, or directories to look for *.test.yaml in; default: this directory')
    .option('--filter <words>', 'only cases with these words in their name or file')
    .option('--failed', 'only cases that did not pass when they were last run')
    .option('--resume', 'go on with a test that was interrupted')
    .option('--retry-unknown', 'with --resume: run cases again whose creation is in doubt')
    .option('--update', 'write what came as what is expected, for equals and json')
    .option('--judge <model>', 'the model that judges rubrics')
    .option('-m, --model <models>', 'run every case with each of these models, separated by commas', collect)
    .option('--allow-commands', 'run the programs that test files name')
    .addOption(
      new Option('--reporter <name>', 'the form of a report, repeatable')
        .choices(REPORTERS)
        .argParser(reporter),
    )
    .option('--out <file>', 'write the report to this file; the nth belongs to the nth --reporter', collect)
    .option('--concurrency <n>', 'creations open at a time')
    .option('--rate <n>', 'requests a second, 0 for no limit')
    .option('--print-schema', 'print the JSON Schema of test files, for editors')
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], flags: TestFlags) => host.runAction(command, ctx => run(ctx, paths, flags)));
}

/** Runs the cases beside prompt files and checks what comes back. */
export async function test(ctx: Context, paths: readonly string[], flags: TestFlags): Promise<ExitCode> {
  if (flags.printSchema === true) {
    const { testFileSchema } = await import('../../testing/cases/test-file-schema.ts');
    await ctx.io.out(`${toJson(testFileSchema(), false)}\n`);
    return EXIT.ok;
  }
  const options = testOptions(ctx, paths, flags);
  const { runTests } = await import('../../testing/run-tests.ts');
  return runTests(ctx, options);
}

function reporter(value: string, before: readonly Reporter[] = []): Reporter[] {
  const name = REPORTERS.find(known => known === value);
  if (name !== undefined) return [...before, name];
  throw new InvalidArgumentError(`Allowed choices are ${REPORTERS.join(', ')}.`);
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
    outputs: pairOutputs(ctx.cwd, flags.reporter ?? [], flags.out ?? []),
    concurrency: flagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: flagOrSetting(ctx.settings, 'rate', flags.rate),
  };
}
