import type { Context } from '../context.ts';
import { type CapFlags, type Caps, parseCaps } from '../creation/caps.ts';
import { usageError } from '../errors.ts';
import { readsStandardInput } from '../inputs/flags.ts';
import { flagOrSetting } from '../settings/settings.ts';
import { parseShard, type Shard } from './rows/row.ts';
import type { Format } from './rows/source.ts';

export const CHANGED = ['run', 'skip'] as const;
export type Changed = (typeof CHANGED)[number];

/** The flags of `batch`, as commander gives them. */
export interface BatchFlags extends CapFlags {
  readonly from: string;
  readonly format?: Format;
  readonly delimiter?: string;
  readonly excel?: boolean;
  readonly out?: string;
  readonly resume?: boolean;
  readonly retryFailed?: boolean;
  readonly retryUnknown?: boolean;
  readonly changed?: Changed;
  readonly newRows?: boolean;
  readonly sorted?: boolean;
  readonly withInputs?: boolean;
  readonly input?: readonly string[];
  readonly image?: readonly string[];
  readonly option?: readonly string[];
  readonly validate: boolean;
  readonly concurrency?: string;
  readonly rate?: string;
  readonly save?: string;
  readonly force?: boolean;
  readonly shard?: string;
  readonly maxFailures?: string;
  readonly dryRun?: boolean;
  readonly providerBatch?: boolean;
  readonly cancel?: boolean;
}

/** How a batch is done. */
export interface BatchOptions {
  readonly target: string;
  readonly from: string;
  readonly format: Format | undefined;
  /** What separates the cells of CSV; what its header has if undefined. */
  readonly delimiter: string | undefined;
  /** Results as CSV that a spreadsheet opens safely. */
  readonly excel: boolean;
  readonly out: string | undefined;
  readonly resume: boolean;
  readonly retryFailed: boolean;
  readonly retryUnknown: boolean;
  /** What becomes of rows that are no longer what was sent; undefined refuses them. */
  readonly changed: Changed | undefined;
  /** Rows without a result are new, though there is no journal that says so. */
  readonly newRows: boolean;
  /** Results in the order of the rows at the end. */
  readonly sorted: boolean;
  /** What was sent stands in the results. */
  readonly withInputs: boolean;
  readonly inputs: readonly string[];
  readonly images: readonly string[];
  readonly runOptions: readonly string[];
  readonly validate: boolean;
  /** Whether rows may name files outside of the folder of theirs. */
  readonly allowOutside: boolean;
  /** Creations open at a time; what suits the service if undefined. */
  readonly concurrency: number | undefined;
  /** Requests a second, 0 for no limit; what the service says if undefined. */
  readonly rate: number | undefined;
  /** Where outputs are saved; nowhere where undefined. */
  readonly saveTo: string | undefined;
  readonly force: boolean;
  readonly shard: Shard | undefined;
  /** Rows that may fail before no more are started. */
  readonly maxFailures: number;
  readonly caps: Caps;
  readonly dryRun: boolean;
  /** Whether rows are handed over to their model's provider as its batches. */
  readonly providerBatch: boolean;
  /** Whether what was handed over is cancelled there. */
  readonly cancel: boolean;
}

/** The flags as a whole, checked against each other before anything is read or sent. @throws {CliError} exit 2 */
export function batchOptions(ctx: Context, target: string, flags: BatchFlags): BatchOptions {
  const { resume = false, retryFailed = false, retryUnknown = false, dryRun = false } = flags;
  if (resume && flags.out === undefined) {
    throw usageError('--resume needs --out: the file of results to go on with');
  }
  refuseWithoutResume(flags);
  if (flags.sorted === true && flags.out === undefined) {
    throw usageError('--sorted needs --out: results on standard output come as they end');
  }
  if (flags.out === undefined && ctx.io.stdout.isTerminal && !dryRun) {
    throw usageError(
      '--out is missing: it says where results are written',
      'Add --out results.jsonl or --out results.csv, or pipe standard output somewhere.',
    );
  }
  if (flags.excel === true && !/\.csv$/iu.test(flags.out ?? '')) {
    throw usageError(
      '--excel needs --out with the name of a CSV file',
      'For example: --out results.csv --excel',
    );
  }
  refuseSecondReader(flags);
  return {
    target,
    resume,
    retryFailed,
    retryUnknown,
    dryRun,
    providerBatch: flags.providerBatch ?? false,
    cancel: flags.cancel ?? false,
    changed: flags.changed,
    newRows: flags.newRows ?? false,
    sorted: flags.sorted ?? false,
    withInputs: flags.withInputs ?? false,
    from: flags.from,
    format: flags.format,
    delimiter: flags.delimiter,
    excel: flags.excel ?? false,
    out: flags.out,
    inputs: flags.input ?? [],
    images: flags.image ?? [],
    runOptions: flags.option ?? [],
    validate: flags.validate,
    allowOutside: ctx.globals.allowOutside,
    concurrency: flagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    rate: flagOrSetting(ctx.settings, 'rate', flags.rate),
    saveTo: flags.save,
    force: flags.force ?? false,
    caps: parseCaps(flags),
    shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
    maxFailures: flags.maxFailures === undefined ? Number.POSITIVE_INFINITY : parseCount(flags.maxFailures),
  };
}

function refuseWithoutResume(flags: BatchFlags): void {
  const given = [
    flags.retryFailed === true && '--retry-failed',
    flags.retryUnknown === true && '--retry-unknown',
    flags.changed !== undefined && '--changed',
    flags.newRows === true && '--new-rows',
    flags.cancel === true && '--cancel',
  ].find(flag => flag !== false);
  if (given !== undefined && flags.resume !== true) {
    throw usageError(`${given} needs --resume`);
  }
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/u.test(text)) {
    throw usageError(`--max-failures needs a whole number from 1, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

/** The rows take all of standard input. */
function refuseSecondReader({ from, input = [], image = [] }: BatchFlags): void {
  const other = input.find(readsStandardInput) ?? image.find(given => given === '-');
  if (from === '-' && other !== undefined) {
    throw usageError(
      'standard input can be read once only, and --from - reads it',
      'give the other one from a file',
    );
  }
}
