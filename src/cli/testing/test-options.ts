import path from 'node:path';
import type { Context } from '../context.ts';
import { type CapFlags, parseCaps } from '../creation/caps.ts';
import { usageError } from '../errors.ts';
import { modelList } from '../inputs/flags.ts';
import { flagOrSetting } from '../settings/settings.ts';

export type Reporter = 'junit' | 'json' | 'github' | 'html' | 'markdown';

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

/** How prompts are tested. */
export type TestOptions = ReturnType<typeof testOptions>;

/** @throws {CliError} USAGE_ERROR for flags that don't go together */
export function testOptions(ctx: Context, paths: readonly string[], flags: TestFlags) {
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

/** A report, and where it goes. */
export interface ReportOutput {
  readonly reporter: Reporter;
  /** Standard output if undefined. */
  readonly out: string | undefined;
}

/** Pairs reports with their files, the nth with the nth. */
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
  const outputs = reporters.map((reporter, at) => ({ reporter, out: files[at] }));
  const places = outputs.map(({ out }) => (out === undefined ? '' : path.resolve(cwd, out)));
  const twin = outputs.find((_, at) => places.indexOf(places[at] ?? '') !== at);
  if (twin === undefined) return outputs;
  throw usageError(
    twin.out === undefined ? 'two reports go to standard output' : `--out: two reports go to ${twin.out}`,
    'Give each --reporter an --out of its own; the nth belongs to the nth.',
  );
}
