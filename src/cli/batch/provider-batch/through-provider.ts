import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../files/error-utils.ts';
import type { BatchProvider } from '../../../service/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/provider-batches/provider-batches.ts';
import type { Connection, Context } from '../../context.ts';
import { exitCodeOfHttp } from '../../core/failure.ts';
import { isObject } from '../../core/json-value.ts';
import type { Budget, Reservation } from '../../creation/budget.ts';
import { CliError, usageError } from '../../errors.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import type { PlannedJob } from '../run/engine.ts';
import { failedOutcome, type Job, type JobOutcome } from '../run/job.ts';
import type { BatchJournal } from '../run/job-journal.ts';
import type { Stop } from '../run/stop.ts';
import { BatchDesk, type HandedOver, handedOver, readHandedOver, statusOf } from './desk.ts';

export interface ProviderBatchParts {
  readonly ctx: Context;
  readonly connection: Connection;
  readonly promptVersionId: string;
  readonly journal: BatchJournal;
  readonly stop: Stop;
  readonly budget: Budget;
  /** What the service's search says that a run is expected to take. */
  readonly estimatedCredits: unknown;
  /** Whether what was handed over is to be cancelled there, and nothing more handed over. */
  readonly cancel: boolean;
  readonly settle: (job: Job, outcome: JobOutcome) => Promise<void>;
}

/** A row that a batch answers. */
interface Awaited {
  readonly job: Job;
  readonly handed: HandedOver;
  readonly customId: string;
  readonly digest: string;
  readonly reservation?: Reservation | undefined;
}

/**
 * Hands jobs over to their model's provider as its batches, waits for these, and gives the jobs on with their answers at
 * hand. Jobs of batches that were handed over before are never handed over again.
 *
 * @throws {CliError} for a model whose provider has no batches, and for a provider that can't be asked
 */
export async function* throughProvider(
  jobs: AsyncIterable<PlannedJob>,
  parts: ProviderBatchParts,
): AsyncGenerator<PlannedJob> {
  const { connection, promptVersionId } = parts;
  if (!connection.providerBatches) {
    throw usageError('--provider-batch works on this machine’s own service only', 'Add --profile local');
  }
  const batches = await connection.providerBatches();
  const provider = await batches.of(promptVersionId).catch((error: unknown) => {
    throw serviceFault(error);
  });
  yield* new Handover(parts, batches, provider).run(jobs);
}

class Handover {
  readonly #parts: ProviderBatchParts;
  readonly #batches: ProviderBatches;
  readonly #provider: BatchProvider;
  readonly #desk: BatchDesk;
  readonly #handed: HandedOver[];
  readonly #awaited = new Map<HandedOver, Awaited[]>();
  #chunkBytes = 0;
  #chunk: { job: Job; digest: string; parameters: object; reservation: Reservation }[] = [];
  /** Whether the cap keeps more rows from being handed over. */
  #isFull = false;

  constructor(parts: ProviderBatchParts, batches: ProviderBatches, provider: BatchProvider) {
    this.#parts = parts;
    this.#batches = batches;
    this.#provider = provider;
    this.#handed = readHandedOver(parts.journal);
    this.#desk = new BatchDesk(parts, provider);
  }

  async *run(jobs: AsyncIterable<PlannedJob>): AsyncGenerator<PlannedJob> {
    for await (const planned of jobs) {
      const before = this.#handedBefore(planned);
      if (before) this.#await(before);
      else if (planned.plan.kind !== 'create') yield planned;
      else await this.#take(planned.job);
    }
    await this.#handOver();
    for (const handed of this.#handed) yield* this.#collect(handed);
  }

  /** The batch that answers a job which was handed over and has not ended. */
  #handedBefore({ job, plan }: PlannedJob): Awaited | undefined {
    const repeated = plan.kind === 'repeat' ? plan.entry.id : undefined;
    if (plan.kind !== 'create' && repeated === undefined) return undefined;
    const step = this.#parts.journal.states.get(job.id)?.step;
    if (step === 'failed' || step === 'succeeded') return undefined;
    for (const handed of this.#handed.toReversed()) {
      const row = handed.rows.get(job.id);
      if (row && (repeated === undefined || repeated === row.customId)) return { job, handed, ...row };
    }
    return undefined;
  }

  #await(awaited: Awaited): void {
    const rows = this.#awaited.get(awaited.handed);
    if (rows) rows.push(awaited);
    else this.#awaited.set(awaited.handed, [awaited]);
  }

  async #take(job: Job): Promise<void> {
    const { ctx, connection, budget, estimatedCredits, cancel, settle } = this.#parts;
    if (this.#isFull) return;
    try {
      if (cancel) throw usageError('the row was not handed over before the batch was cancelled');
      const body = buildRunBody(await job.request());
      const parameters = await this.#batches.prepare(await bodyOf(body.body.chunks()));
      const bytes = JSON.stringify(parameters).length + 200;
      const { limits } = this.#provider;
      const isFull = this.#chunk.length >= limits.requests || this.#chunkBytes + bytes > limits.bytes;
      if (isFull) await this.#handOver();
      const reservation = await budget.reserve(connection, body, { estimatedCredits, providerBatch: true });
      this.#chunk.push({ job, digest: body.digest, parameters, reservation });
      this.#chunkBytes += bytes;
    } catch (error) {
      if (budget.reached !== undefined && error === budget.reached) {
        this.#isFull = true;
        return;
      }
      await settle(job, failedOutcome(ctx, serviceFault(error)));
    }
  }

  /** The journal holds what is handed over before it is. */
  async #handOver(): Promise<void> {
    const { ctx, journal, stop, settle } = this.#parts;
    const chunk = this.#chunk;
    this.#chunk = [];
    this.#chunkBytes = 0;
    if (chunk.length === 0 || stop.isStopping()) return;
    const key = randomUUID().replaceAll('-', '');
    const time = new Date(ctx.clock.now()).toISOString();
    const handed = handedOver(
      key,
      time,
      chunk.map(({ job, digest }) => [job.id, digest]),
    );
    // A row that failed before is no longer taken for one that has ended.
    for (const { job } of chunk) if (journal.states.has(job.id)) await journal.waiting(job);
    await this.#desk.announce(handed);
    const awaited = chunk.map(({ job, digest, reservation }, at) => {
      return { job, handed, customId: `${key}-${at + 1}`, digest, reservation };
    });
    const requests = chunk.map(({ parameters }, at) => ({ customId: `${key}-${at + 1}`, parameters }));
    const refused = await this.#desk.create(handed, requests);
    if (!refused) {
      this.#handed.push(handed);
      this.#awaited.set(handed, awaited);
      return;
    }
    for (const { job, reservation } of chunk) {
      reservation.refused();
      await settle(job, failedOutcome(ctx, refused));
    }
  }

  async *#collect(handed: HandedOver): AsyncGenerator<PlannedJob> {
    const rows = new Map((this.#awaited.get(handed) ?? []).map(row => [row.customId, row]));
    if (rows.size === 0 || this.#parts.stop.isStopping()) return;
    if (handed.batch === undefined) await this.#settleDoubt(handed, [...rows.values()]);
    const ended = handed.batch === undefined ? undefined : await this.#desk.wait(handed.batch, rows.size);
    if (!ended) return;
    const { ctx } = this.#parts;
    try {
      for await (const { customId, answer } of this.#provider.collect(handed.batch ?? '', ctx.signal)) {
        const row = rows.get(customId);
        if (!row || !rows.delete(customId)) continue;
        this.#batches.offer(customId, answer);
        yield this.#answered(row);
      }
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (!isGone(error)) throw this.#desk.fault(`did not give its results: ${messageOf(error)}`);
      ctx.io.error(`error: the results of the batch ${handed.batch} at ${this.#provider.name} are gone`);
    }
    for (const [customId, row] of rows) {
      this.#batches.offer(customId, { fault: ended.fault ?? 'it gave no result for it' });
      yield this.#answered(row);
    }
  }

  /** Its creation under the name of its request takes the answer. */
  #answered({ job, handed, customId, digest, reservation: taken }: Awaited): PlannedJob {
    const { connection, promptVersionId, budget } = this.#parts;
    const reservation = taken ?? budget.paid(connection, { promptVersionId });
    const entry = {
      id: customId,
      time: handed.time,
      baseUrl: connection.service,
      promptVersionId,
      inputsDigest: digest,
    };
    const request: Job['request'] = async () => {
      const now = await job.request();
      if (buildRunBody(now).digest === digest) return now;
      throw usageError('the row is no longer what was handed over', 'Put it back as it was, then --resume');
    };
    return { job: { ...job, isUntimed: true, reservation, request }, plan: { kind: 'repeat', entry } };
  }

  /** A batch whose creation was not answered is created again only if the provider has none. */
  async #settleDoubt(handed: HandedOver, rows: readonly Awaited[]): Promise<void> {
    if (await this.#desk.find(handed)) return;
    const requests = [];
    for (const { job, customId } of rows) {
      const { chunks } = buildRunBody(await job.request()).body;
      requests.push({ customId, parameters: await this.#batches.prepare(await bodyOf(chunks())) });
    }
    const refused = await this.#desk.create(handed, requests);
    if (refused)
      for (const { job } of rows) await this.#parts.settle(job, failedOutcome(this.#parts.ctx, refused));
  }
}

/** The body of a creation, as the service reads it. */
async function bodyOf(chunks: AsyncIterable<Uint8Array>): Promise<Parameters<ProviderBatches['prepare']>[0]> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(Uint8Array.from(chunk));
  return JSON.parse(Buffer.concat(pieces).toString()) as Parameters<ProviderBatches['prepare']>[0];
}

/** A refusal of the service in this process, as it would have been answered. */
function serviceFault(error: unknown): unknown {
  if (!(error instanceof Error) || !isObject(error)) return error;
  const { httpStatus, status } = error as { httpStatus?: unknown; status?: unknown };
  if (typeof httpStatus !== 'number' || typeof status !== 'string') return error;
  return new CliError(error.message, { status, exitCode: exitCodeOfHttp(httpStatus) });
}

function isGone(error: unknown): boolean {
  return (
    [404, 410].includes(statusOf(error) ?? 0) || (error instanceof Error && /results_url/.test(error.message))
  );
}
