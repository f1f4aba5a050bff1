import path from 'node:path';
import { isSpecialFile } from '../../../files/writing/write-file.ts';
import { type BatchOptions, isTableName } from '../../batch/batch-options.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { parseCaps } from '../../creation/spending/caps.ts';
import { refuseSecondStdinReader } from '../../inputs/flag-values.ts';
import { parseShard } from '../../inputs/rows/shard.ts';
import { usesProviderBatch } from '../../jobs/provider-batch/batch-flags.ts';
import { isStandardOutput } from '../../outputs/saving/special-file.ts';
import { readFlagOrSetting } from '../../settings/settings.ts';
import type { BATCH } from './spec.ts';

/**
 * The flags of `batch` with `--from`, which the parser can't require: it would require it of
 * `batch report`, too.
 */
export type BatchFlags = FlagsOf<typeof BATCH.flags> & { readonly from: string };

/** Matches the extension of a table format that promptrun doesn't write. */
const UNSUPPORTED_EXTENSION = /\.(?:tsv|xlsx?|ods|parquet)$/iu;

/**
 * Checks the flags against each other before anything is read or sent.
 *
 * @throws {CliError} exit 2
 */
export function readBatchOptions(ctx: Context, target: string, flags: BatchFlags): BatchOptions {
  const destination = readDestination(ctx, flags.out);
  refuseStrayResumeFlags(flags);
  refuseUnusableOut(ctx, flags, destination);
  refuseSecondStdinReader(flags);

  return {
    target,
    resume: flags.resume ?? false,
    retryFailed: flags.retryFailed ?? false,
    retryUnknown: flags.retryUnknown ?? false,
    dryRun: flags.dryRun ?? false,
    providerBatch: usesProviderBatch(ctx, flags),
    cancel: flags.cancel ?? false,
    changed: flags.changed,
    newRows: flags.newRows ?? false,
    sorted: flags.sorted ?? false,
    withInputs: flags.withInputs ?? false,
    from: flags.from,
    format: flags.format,
    delimiter: flags.delimiter,
    ignoredColumns: parseColumnNames(flags.ignoreColumns),
    excel: flags.excel ?? false,
    ...destination,
    inputs: flags.input,
    images: flags.image,
    runOptions: flags.option,
    model: flags.model,
    validate: flags.validate,
    allowOutside: ctx.globals.allowOutside,
    concurrency: readFlagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: readFlagOrSetting(ctx.settings, 'rate', flags.rate),
    saveTo: flags.save,
    force: flags.force ?? false,
    caps: parseCaps(flags),
    shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
    maxFailures:
      flags.maxFailures === undefined
        ? Number.POSITIVE_INFINITY
        : parseMaxFailures(flags.maxFailures),
  };
}

/**
 * Returns `--out` as the file `out`, or as the device or pipe `stream`. Both are undefined if it
 * leads to standard output, unless that is a table, which is written as a file.
 */
function readDestination(
  { cwd }: Context,
  name: string | undefined,
): Pick<BatchOptions, 'out' | 'stream'> {
  if (name === undefined || (isStandardOutput(cwd, name) && !isTableName(name))) {
    return { out: undefined, stream: undefined };
  }
  const stream = isSpecialFile(path.resolve(cwd, name)) ? name : undefined;
  return { out: stream === undefined ? name : undefined, stream };
}

/** Refuses an `--out` that can't hold the results in the form that the other flags ask for. */
function refuseUnusableOut(
  ctx: Context,
  flags: BatchFlags,
  { out: resultsFile }: Pick<BatchOptions, 'out'>,
): void {
  if (flags.resume === true && resultsFile === undefined) {
    throw usageError('--resume needs --out with the results file of the interrupted batch');
  }

  if (flags.out === undefined && ctx.io.stdout.isTerminal && flags.dryRun !== true) {
    throw usageError(
      '--out is missing: name a file for the results',
      'Add --out results.jsonl or --out results.csv, or pipe standard output somewhere.',
    );
  }

  const [unsupportedExtension] = UNSUPPORTED_EXTENSION.exec(flags.out ?? '') ?? [];
  if (unsupportedExtension !== undefined) {
    throw usageError(
      `--out: results are written as JSONL or CSV, not as ${unsupportedExtension}`,
      'For a spreadsheet: --out results.csv --excel',
    );
  }

  if (flags.excel === true && !isTableName(flags.out ?? '')) {
    throw usageError(
      '--excel needs --out with the name of a CSV file',
      'For example: --out results.csv --excel',
    );
  }
}

/** Refuses flags that have a meaning only with `--resume`. */
function refuseStrayResumeFlags(flags: BatchFlags): void {
  if (flags.resume === true) return;
  const resumeFlags = {
    '--retry-failed': flags.retryFailed === true,
    '--retry-unknown': flags.retryUnknown === true,
    '--changed': flags.changed !== undefined,
    '--new-rows': flags.newRows === true,
    '--cancel': flags.cancel === true,
  };
  const [strayFlag] = Object.entries(resumeFlags).find(([, isGiven]) => isGiven) ?? [];
  if (strayFlag !== undefined) throw usageError(`${strayFlag} needs --resume`);
}

function parseColumnNames(text = ''): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '');
}

function parseMaxFailures(text: string): number {
  if (!/^[1-9]\d{0,8}$/u.test(text)) {
    throw usageError(`--max-failures needs a whole number from 1, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}
