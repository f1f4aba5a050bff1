import type { Caps } from '../creation/caps.ts';
import type { Shard } from '../inputs/rows/row.ts';
import type { Format } from '../inputs/rows/source.ts';

/** How a batch is done. */
export interface BatchOptions {
  readonly target: string;
  readonly resume: boolean;
  readonly retryFailed: boolean;
  readonly retryUnknown: boolean;
  readonly dryRun: boolean;
  /** True to hand rows over to their model's provider as its batches. */
  readonly providerBatch: boolean;
  /** True to cancel what was handed over. */
  readonly cancel: boolean;
  /** What becomes of rows that are no longer what was sent; undefined refuses them. */
  readonly changed: 'run' | 'skip' | undefined;
  /** True if rows without a result are new, though no journal says so. */
  readonly newRows: boolean;
  /** True to put the results in the order of the rows at the end. */
  readonly sorted: boolean;
  readonly withInputs: boolean;
  readonly from: string;
  readonly format: Format | undefined;
  /** What separates the cells of CSV; what its header has if undefined. */
  readonly delimiter: string | undefined;
  /** Columns that are left out; `*` stands for all that are not inputs. */
  readonly ignoredColumns: readonly string[];
  /** True for CSV that a spreadsheet opens safely. */
  readonly excel: boolean;
  readonly out: string | undefined;
  readonly inputs: readonly string[];
  readonly images: readonly string[];
  readonly runOptions: readonly string[];
  /** In place of the one that the prompt names. */
  readonly model: string | undefined;
  readonly validate: boolean;
  /** True if rows may name files outside their folder. */
  readonly allowOutside: boolean;
  /** Creations open at a time; what suits the service if undefined. */
  readonly concurrency: number | undefined;
  /** Requests a second, 0 for no limit; what the service says if undefined. */
  readonly rate: number | undefined;
  /** Where outputs are saved; nowhere if undefined. */
  readonly saveTo: string | undefined;
  readonly force: boolean;
  readonly caps: Caps;
  readonly shard: Shard | undefined;
  /** Rows that may fail before no more are started. */
  readonly maxFailures: number;
}
