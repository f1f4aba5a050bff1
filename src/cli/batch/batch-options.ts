import type { Caps } from '../creation/spending/caps.ts';
import type { RowFormat } from '../inputs/rows/row-source.ts';
import type { Shard } from '../inputs/rows/shard.ts';

export interface BatchOptions {
  readonly target: string;
  readonly resume: boolean;
  readonly retryFailed: boolean;
  readonly retryUnknown: boolean;
  readonly dryRun: boolean;
  /** True to hand rows over to their model's provider as its batches. */
  readonly providerBatch: boolean;
  /** True to cancel the batches that were handed over. */
  readonly cancel: boolean;
  /** The treatment of rows that have changed since they were sent; undefined refuses them. */
  readonly changed: 'run' | 'skip' | undefined;
  /** True if rows without a result are new, although no journal proves it. */
  readonly newRows: boolean;
  /** True to put the results in the order of the rows at the end. */
  readonly sorted: boolean;
  readonly withInputs: boolean;
  readonly from: string;
  readonly format: RowFormat | undefined;
  /** The delimiter of CSV cells; detected from the header if undefined. */
  readonly delimiter: string | undefined;
  /** Columns to ignore; `*` for all that are not inputs. */
  readonly ignoredColumns: readonly string[];
  /** True for CSV that a spreadsheet opens safely. */
  readonly excel: boolean;
  /** The file of results; undefined for standard output or `stream`. */
  readonly out: string | undefined;
  /**
   * The device or pipe that gets the results instead of a file; undefined for `out` or standard
   * output.
   */
  readonly stream: string | undefined;
  readonly inputs: readonly string[];
  readonly images: readonly string[];
  readonly runOptions: readonly string[];
  /** The model to use instead of the prompt's own. */
  readonly model: string | undefined;
  readonly validate: boolean;
  /** True if rows may name files outside their folder. */
  readonly allowOutside: boolean;
  /** Maximum number of open creations; the service's default if undefined. */
  readonly concurrency: number | undefined;
  /** Requests per second, 0 for no limit; the service's limit if undefined. */
  readonly rate: number | undefined;
  /** The folder to save outputs to; undefined saves none. */
  readonly saveTo: string | undefined;
  readonly force: boolean;
  readonly caps: Caps;
  readonly shard: Shard | undefined;
  /** Number of failed rows after which no more are started. */
  readonly maxFailures: number;
}

/** Returns true for the name of a results file that is a CSV table. */
export function isTableName(name: string): boolean {
  return /\.csv$/iu.test(name);
}
