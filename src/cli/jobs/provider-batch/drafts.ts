import { text as textOfStream } from 'node:stream/consumers';
import type { BatchProvider } from '../../../models/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/runs/provider-batches.ts';
import type { Connection } from '../../context.ts';
import { toCliError } from '../../core/failure.ts';
import type { Budget, Reservation } from '../../creation/budget.ts';
import { usageError } from '../../errors.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { failedOutcome, isFatal, type Job, type JobOutcome } from '../job.ts';
import type { DeskParts } from './desk.ts';

export interface ProviderBatchParts extends DeskParts {
  readonly connection: Connection;
  readonly promptVersionId: string;
  readonly budget: Budget;
  /** What the service's search says that a run is expected to take. */
  readonly estimatedCredits: unknown;
  /** Whether what was handed over is to be cancelled there, and nothing more handed over. */
  readonly cancel: boolean;
  /** Whether rows whose results the provider no longer has are handed over again. */
  readonly retryUnknown: boolean;
  readonly settle: (job: Job, outcome: JobOutcome) => Promise<void>;
}

/** A row as its model is to be asked. */
export interface Draft extends Expected {
  readonly inputsDigest: string;
  /** JSON. */
  readonly parameters: Uint8Array;
}

/** A row that a batch answers. */
export interface Expected {
  readonly job: Job;
  /** undefined if it was handed over before. */
  readonly reservation: Reservation | undefined;
}

/** How often progress says how many rows have been prepared. */
const REPORT_EVERY_MS = 10_000;

type Creation = Parameters<ProviderBatches['prepare']>[0];

/** Prepares rows for a provider, and gathers as many as fit into one of its batches. */
export class Drafts {
  readonly #parts: ProviderBatchParts;
  readonly #batches: ProviderBatches;
  readonly #provider: BatchProvider;
  #prepared = { rows: 0, reportedAt: 0 };
  #chunkBytes = 0;
  #chunk: Draft[] = [];
  /** Whether the cap keeps more rows from being handed over. */
  #isFull = false;

  constructor(
    parts: ProviderBatchParts,
    { batches, provider }: { readonly batches: ProviderBatches; readonly provider: BatchProvider },
  ) {
    this.#parts = parts;
    this.#batches = batches;
    this.#provider = provider;
  }

  /** Takes a job; returns the rows that have to be handed over before it, as many as fit into one batch, or none. */
  async take(job: Job): Promise<Draft[]> {
    if (this.#isFull) return [];
    const { limits } = this.#provider;
    this.#reportPreparing();
    const draft = await this.draft(job, true);
    if (!draft) return [];
    const bytes = draft.parameters.length + 200;
    const isFull = this.#chunk.length >= limits.requests || this.#chunkBytes + bytes > limits.bytes;
    const full = isFull ? this.rest() : [];
    this.#chunk.push(draft);
    this.#chunkBytes += bytes;
    return full;
  }

  /** Returns the rows that were taken last and are not handed over yet. */
  rest(): Draft[] {
    const drafts = this.#chunk;
    [this.#chunk, this.#chunkBytes] = [[], 0];
    return drafts;
  }

  /** Rows with pictures take a while. */
  #reportPreparing(): void {
    const { clock, io } = this.#parts.ctx;
    const { rows, reportedAt } = this.#prepared;
    const isDue = rows === 0 || clock.now() - reportedAt >= REPORT_EVERY_MS;
    if (isDue)
      io.note(`note: preparing rows for ${this.#provider.name}${rows === 0 ? '' : `: ${rows} so far`}`);
    this.#prepared = { rows: rows + 1, reportedAt: isDue ? clock.now() : reportedAt };
  }

  /** undefined for a row that can't be handed over, which is settled then unless it is the cap that forbids it. */
  async draft(job: Job, isNew: boolean): Promise<Draft | undefined> {
    const { ctx, connection, budget, estimatedCredits, cancel, settle } = this.#parts;
    try {
      if (cancel) throw usageError('the row was not handed over before the batch was cancelled');
      const request = buildRunBody(await job.request());
      const parameters = await this.#batches.prepare(
        JSON.parse(await textOfStream(request.body.chunks())) as Creation,
      );
      const room = { estimatedCredits: job.estimatedCredits ?? estimatedCredits, providerBatch: true };
      const reservation = isNew ? await budget.reserve(connection, request, room) : undefined;
      return { job, inputsDigest: request.digest, parameters, reservation };
    } catch (error) {
      ctx.signal.throwIfAborted();
      this.#isFull ||= budget.reached !== undefined && error === budget.reached;
      if (this.#isFull) return undefined;
      const fault = toCliError(error);
      if (isFatal(fault)) throw fault;
      await settle(job, failedOutcome(ctx, fault));
      return undefined;
    }
  }
}
