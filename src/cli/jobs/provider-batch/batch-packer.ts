import type { BatchProvider } from '../../../models/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/runs/provider-batches.ts';
import type { Connection } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { toCliError } from '../../core/failure.ts';
import type { Budget, Reservation } from '../../creation/spending/budget.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { type Job, type JobOutcome, toFailedOutcome } from '../job.ts';
import { isFatal } from '../job-errors.ts';
import type { BatchProviderAccess, BatchSessionParts } from './batch-session.ts';

export interface ProviderBatchParts extends BatchSessionParts {
  readonly connection: Connection;
  readonly promptVersionId: string;
  readonly budget: Budget;
  /** The estimate in the service's search results. */
  readonly estimatedCredits: unknown;
  /** True to cancel the batches at the provider and hand nothing over. */
  readonly cancel: boolean;
  /** True to hand rows over again if the provider no longer has their results. */
  readonly retryUnknown: boolean;
  readonly settle: (job: Job, outcome: JobOutcome) => Promise<void>;
}

/** A row with its request to the model. */
export interface PreparedRow extends AwaitedRow {
  readonly inputsDigest: string;
  /** The parameters of the request as JSON. */
  readonly parameters: Uint8Array;
}

/** A row that a batch answers. */
export interface AwaitedRow {
  readonly job: Job;
  /** The room in the budget; undefined if an earlier invocation handed it over. */
  readonly reservation: Reservation | undefined;
}

/** The interval of progress notes while rows are prepared, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/** Upper bound of what a provider adds to the parameters of a row: its id, method and path. */
const ROW_OVERHEAD_BYTES = 200;

/** Prepares rows for a provider and groups as many as fit into one of its batches. */
export class BatchPacker {
  readonly #parts: ProviderBatchParts;
  readonly #batches: ProviderBatches;
  readonly #provider: BatchProvider;
  /** The number of prepared rows, and when it was reported last. */
  #progress = { rowCount: 0, reportedAt: 0 };
  #byteCount = 0;
  #rows: PreparedRow[] = [];
  /** True if the cap leaves no room for more rows. */
  #isCapped = false;

  constructor(parts: ProviderBatchParts, { batches, provider }: BatchProviderAccess) {
    this.#parts = parts;
    this.#batches = batches;
    this.#provider = provider;
  }

  /** Adds a job. Returns the rows of a full batch to hand over before it, or none. */
  async add(job: Job): Promise<PreparedRow[]> {
    if (this.#isCapped) return [];

    const { limits } = this.#provider;
    this.#reportPreparing();
    const row = await this.prepare(job);
    if (!row) return [];

    const byteCount = row.parameters.length + ROW_OVERHEAD_BYTES;
    const isFull =
      this.#rows.length >= limits.requests || this.#byteCount + byteCount > limits.bytes;
    const fullBatch = isFull ? this.removeRemainingRows() : [];
    this.#rows.push(row);
    this.#byteCount += byteCount;

    return fullBatch;
  }

  /** Removes and returns the rows that are not handed over yet. */
  removeRemainingRows(): PreparedRow[] {
    const rows = this.#rows;
    [this.#rows, this.#byteCount] = [[], 0];
    return rows;
  }

  /**
   * Prepares a row and reserves room for it in the budget. Returns undefined if the row can't be
   * handed over; its job is then settled, unless a cap refuses it.
   */
  async prepare(job: Job): Promise<PreparedRow | undefined> {
    const { ctx, connection, budget, estimatedCredits, cancel, settle } = this.#parts;
    try {
      if (cancel) throw usageError('the row was not uploaded before the batch was cancelled');

      const request = buildRunBody(await job.buildRequest());
      const parameters = await this.#batches.buildRequest(await request.readRequest());
      const reservation = await budget.reserve(connection, request, {
        estimatedCredits: job.estimatedCredits ?? estimatedCredits,
        providerBatch: true,
      });
      return { job, inputsDigest: request.digest, parameters, reservation };
    } catch (error) {
      ctx.signal.throwIfAborted();
      this.#isCapped ||= budget.capError !== undefined && error === budget.capError;
      if (this.#isCapped) return undefined;
      const fault = toCliError(error);
      if (isFatal(fault)) throw fault;
      await settle(job, toFailedOutcome(ctx, fault));
      return undefined;
    }
  }

  /** Reports the progress, because preparing rows with images takes a while. */
  #reportPreparing(): void {
    const { clock, io } = this.#parts.ctx;
    const { rowCount, reportedAt } = this.#progress;
    const isDue = rowCount === 0 || clock.now() - reportedAt >= REPORT_INTERVAL_MS;
    if (isDue) {
      const soFar = rowCount === 0 ? '' : `: ${rowCount} so far`;
      io.note(`note: preparing rows for ${this.#provider.name}${soFar}`);
    }

    this.#progress = { rowCount: rowCount + 1, reportedAt: isDue ? clock.now() : reportedAt };
  }
}
