import type { Context } from '../context.ts';
import { type CapFlags, parseCaps } from '../creation/caps.ts';
import { usageError } from '../errors.ts';
import { readsStandardInput } from '../inputs/flags.ts';
import { parseShard } from '../inputs/rows/row.ts';
import type { Format } from '../inputs/rows/source.ts';
import { flagOrSetting } from '../settings/settings.ts';

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
export type BatchOptions = ReturnType<typeof batchOptions>;

/** The flags as a whole, checked against each other before anything is read or sent. @throws {CliError} exit 2 */
export function batchOptions(ctx: Context, target: string, flags: BatchFlags) {
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
    /** Whether rows are handed over to their model's provider as its batches. */
    providerBatch: flags.providerBatch ?? false,
    /** Whether what was handed over is cancelled there. */
    cancel: flags.cancel ?? false,
    /** What becomes of rows that are no longer what was sent; undefined refuses them. */
    changed: flags.changed,
    /** Rows without a result are new, though there is no journal that says so. */
    newRows: flags.newRows ?? false,
    /** Results in the order of the rows at the end. */
    sorted: flags.sorted ?? false,
    withInputs: flags.withInputs ?? false,
    from: flags.from,
    format: flags.format,
    /** What separates the cells of CSV; what its header has if undefined. */
    delimiter: flags.delimiter,
    /** Results as CSV that a spreadsheet opens safely. */
    excel: flags.excel ?? false,
    out: flags.out,
    inputs: flags.input ?? [],
    images: flags.image ?? [],
    runOptions: flags.option ?? [],
    validate: flags.validate,
    /** Whether rows may name files outside of the folder of theirs. */
    allowOutside: ctx.globals.allowOutside,
    /** Creations open at a time; what suits the service if undefined. */
    concurrency: flagOrSetting(ctx.settings, 'concurrency', flags.concurrency),
    /** Requests a second, 0 for no limit; what the service says if undefined. */
    rate: flagOrSetting(ctx.settings, 'rate', flags.rate),
    /** Where outputs are saved; nowhere if undefined. */
    saveTo: flags.save,
    force: flags.force ?? false,
    caps: parseCaps(flags),
    shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
    /** Rows that may fail before no more are started. */
    maxFailures: flags.maxFailures === undefined ? Number.POSITIVE_INFINITY : parseCount(flags.maxFailures),
  };
}

function refuseWithoutResume(flags: BatchFlags): void {
  const flag = [
    flags.retryFailed === true && '--retry-failed',
    flags.retryUnknown === true && '--retry-unknown',
    flags.changed !== undefined && '--changed',
    flags.newRows === true && '--new-rows',
    flags.cancel === true && '--cancel',
  ].find(flag => flag !== false);
  if (flag !== undefined && flags.resume !== true) throw usageError(`${flag} needs --resume`);
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/u.test(text)) {
    throw usageError(`--max-failures needs a whole number from 1, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

/** The rows take all of standard input. */
function refuseSecondReader({ from, input = [], image = [] }: BatchFlags): void {
  const other = input.find(readsStandardInput) ?? image.find(source => source === '-');
  if (from === '-' && other !== undefined) {
    throw usageError(
      'standard input can be read once only, and --from - reads it',
      'give the other one from a file',
    );
  }
}
