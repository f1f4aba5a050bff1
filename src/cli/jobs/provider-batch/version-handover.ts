import type {
  BatchAnswer,
  BatchProvider,
  BatchState,
} from '../../../models/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/runs/provider-batches.ts';
import { pluralize } from '../../core/pluralize.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import { type Job, toFailedOutcome } from '../job.ts';
import type { PlannedJob, PlannedJobs } from '../job-engine.ts';
import { reportSecondPayments } from '../second-payments.ts';
import {
  type BatchHandover,
  createHandover,
  readHandovers,
  writeHandover,
} from './batch-handover.ts';
import {
  type AwaitedRow,
  BatchPacker,
  type PreparedRow,
  type ProviderBatchParts,
} from './batch-packer.ts';
import { type BatchProviderAccess, BatchSession } from './batch-session.ts';

/** The jobs of one version, handed over to its provider in batches. */
export class VersionHandover {
  readonly #parts: ProviderBatchParts;
  readonly #batches: ProviderBatches;
  readonly #provider: BatchProvider;
  readonly #session: BatchSession;
  readonly #packer: BatchPacker;
  /** The handovers of earlier invocations, latest first. */
  readonly #earlierHandovers: readonly BatchHandover[];
  readonly #awaitedRows = new Map<BatchHandover, AwaitedRow[]>();
  /** The handovers whose results have not been collected yet. */
  readonly #openHandovers = new Set<BatchHandover>();

  constructor(parts: ProviderBatchParts, { batches, provider }: BatchProviderAccess) {
    this.#parts = parts;
    this.#batches = batches;
    this.#provider = provider;
    this.#earlierHandovers = readHandovers(parts.journal).reverse();
    this.#session = new BatchSession(parts, provider);
    this.#packer = new BatchPacker(parts, { batches, provider });
  }

  /** Reports the batches that continue without the command. */
  reportRunningBatches(): void {
    this.#session.reportRunningBatches(
      [...this.#openHandovers].flatMap(({ batchId }) => batchId ?? []),
    );
  }

  /** Hands jobs over; yields those that need no batch. */
  async *handOver(jobs: PlannedJobs): AsyncGenerator<PlannedJob> {
    for await (const plannedJob of jobs) {
      const { job, plan } = plannedJob;
      if (plan.kind !== 'create') {
        yield plannedJob;
        continue;
      }

      const handover = await this.#findBatch(job);
      if (handover) {
        this.#addAwaitedRow(handover, { job, reservation: undefined });
      } else {
        await this.#handOverRows(await this.#packer.add(job));
      }
    }
    await this.#handOverRows(this.#packer.removeRemainingRows());
  }

  async cancel(): Promise<void> {
    for (const { batchId } of this.#awaitedRows.keys()) {
      if (batchId !== undefined) await this.#session.cancel(batchId);
    }
  }

  /** Waits for the batches and yields the jobs that they answer. */
  async *collectAnswers(): AsyncGenerator<PlannedJob> {
    for (const [handover, rows] of this.#awaitedRows) yield* this.#waitForAnswers(handover, rows);
  }

  #addAwaitedRow(handover: BatchHandover, row: AwaitedRow): void {
    this.#openHandovers.add(handover);
    const rows = this.#awaitedRows.get(handover);
    if (rows) {
      rows.push(row);
    } else {
      this.#awaitedRows.set(handover, [row]);
    }
  }

  /** Returns the batch that answers a job, if the job's request is unchanged. */
  async #findBatch(job: Job): Promise<BatchHandover | undefined> {
    const step = this.#parts.journal.states.get(job.id)?.step;
    const handover = this.#earlierHandovers.find(({ rows }) => rows.has(job.id));
    if (!handover || step === 'failed' || step === 'succeeded') return undefined;
    const request = await this.#findUnchangedRequest(handover, job);
    return request === undefined ? undefined : handover;
  }

  /** Returns a job's request, or undefined if it differs from the one that was handed over. */
  async #findUnchangedRequest(
    { rows, promptVersionId }: BatchHandover,
    job: Job,
  ): Promise<RunRequest | undefined> {
    if (promptVersionId !== this.#parts.promptVersionId) return undefined;
    const request = await job.buildRequest().catch(() => undefined);
    const isSame = request && buildRunBody(request).digest === rows.get(job.id)?.inputsDigest;
    return isSame ? request : undefined;
  }

  async #handOverRows(preparedRows: readonly PreparedRow[]): Promise<void> {
    if (preparedRows.length === 0 || this.#parts.stop.isStopping()) return;
    const handover = this.#createHandover(preparedRows);
    for (const row of await this.#send(handover, preparedRows)) this.#addAwaitedRow(handover, row);
  }

  #createHandover(preparedRows: readonly PreparedRow[]): BatchHandover {
    const options = { time: this.#getTime(), providerInterface: this.#provider.endpoint };
    return createHandover(this.#parts.promptVersionId, listRowDigests(preparedRows), options);
  }

  /** Prepares rows again; leaves out those that can't be handed over. */
  async #prepareAll(rows: Iterable<AwaitedRow>): Promise<PreparedRow[]> {
    const preparedRows: PreparedRow[] = [];
    for (const { job } of rows) {
      const row = await this.#packer.prepare(job);
      if (row) preparedRows.push(row);
    }
    return preparedRows;
  }

  /** Returns the journal's entry for the creation that takes the answer of a request. */
  #createJournalEntry(
    customId: string,
    request: Pick<JournalEntry, 'promptVersionId' | 'inputsDigest'>,
  ): JournalEntry {
    return {
      id: customId,
      time: this.#getTime(),
      baseUrl: this.#parts.connection.serviceName,
      ...request,
    };
  }

  #getTime(): string {
    return new Date(this.#parts.ctx.clock.now()).toISOString();
  }

  /**
   * Journals a batch, then hands it over. Returns the rows that it will answer, or none if the
   * provider refused it.
   */
  async #send(
    handover: BatchHandover,
    preparedRows: readonly PreparedRow[],
  ): Promise<AwaitedRow[]> {
    const { ctx, journal, settle } = this.#parts;
    await writeHandover(journal, handover);

    // A row that failed earlier counts as open again.
    const earlierRows = preparedRows.filter(({ job }) => journal.states.has(job.id));
    await Promise.all(earlierRows.map(({ job }) => journal.recordWaiting(job)));
    ctx.io.note(
      `note: uploading ${pluralize(preparedRows.length, 'row')} to ${this.#provider.name} as a batch`,
    );
    const requests = preparedRows.map(({ job, parameters }) => {
      return { customId: handover.rows.get(job.id)?.customId ?? '', parameters };
    });
    const refusal = await this.#session.create(handover, requests);
    if (!refusal) return preparedRows.map(({ job, reservation }) => ({ job, reservation }));

    for (const { job, reservation } of preparedRows) {
      reservation?.release();
      await settle(job, toFailedOutcome(ctx, refusal));
    }

    return [];
  }

  async *#waitForAnswers(
    handover: BatchHandover,
    rows: readonly AwaitedRow[],
  ): AsyncGenerator<PlannedJob> {
    if (rows.length === 0) return;

    this.#openHandovers.add(handover);
    if (this.#parts.stop.isStopping()) return;

    const needsSearch = handover.batchId === undefined;
    if (needsSearch && (await this.#session.findLostBatch(handover)) === 'missing') {
      yield* this.#sendAgain(handover, rows);
      return;
    }

    const { batchId } = handover;
    if (batchId === undefined) return;

    if (needsSearch && this.#parts.cancel) await this.#session.cancel(batchId);
    const endState = await this.#session.wait(batchId, rows.length);
    if (endState === undefined) return;

    yield* this.#yieldResults(handover, { batchId, endState }, rows);
    this.#openHandovers.delete(handover);
  }

  /**
   * Hands over a batch that was journaled but never created. If some of its rows can't be handed
   * over any more, or the provider's interface has changed, it becomes a new batch.
   */
  async *#sendAgain(
    handover: BatchHandover,
    rows: readonly AwaitedRow[],
  ): AsyncGenerator<PlannedJob> {
    const customIds = Array.from(handover.rows.values(), ({ customId }) => customId);
    this.#parts.budget.releaseEarlierDoubts(customIds);
    const preparedRows = await this.#prepareAll(rows);

    // An uploaded file of requests can't be used with another interface.
    const isSame =
      preparedRows.length === handover.rows.size &&
      handover.providerInterface === this.#provider.endpoint;
    const nextHandover = isSame ? handover : this.#createHandover(preparedRows);
    if (preparedRows.length === 0) return;
    yield* this.#waitForAnswers(nextHandover, await this.#send(nextHandover, preparedRows));
  }

  /** Yields the rows of an ended batch with their answers; rows without a result fail. */
  async *#yieldResults(
    handover: BatchHandover,
    { batchId, endState }: { readonly batchId: string; readonly endState: BatchState | 'gone' },
    rows: readonly AwaitedRow[],
  ): AsyncGenerator<PlannedJob> {
    const openRows = new Map(rows.map(row => [handover.rows.get(row.job.id)?.customId ?? '', row]));
    if (endState === 'gone') {
      yield* this.#giveUpResults(handover, batchId, openRows);
      return;
    }

    for await (const result of this.#session.collect(batchId)) {
      if (result === 'gone') {
        yield* this.#giveUpResults(handover, batchId, openRows);
        return;
      }

      const { customId, answer } = result;
      const row = openRows.get(customId);

      // A result with an unknown name, or a second one with the same name, is ignored.
      if (row && openRows.delete(customId)) {
        yield* this.#yieldAnswered(row, { handover, customId, answer });
      }
    }

    const answer = { fault: explainMissingResult(endState) };
    for (const [customId, row] of openRows) {
      yield* this.#yieldAnswered(row, { handover, customId, answer });
    }
  }

  /**
   * Abandons results that the provider no longer has. They were paid for, so only `--retry-unknown`
   * pays again.
   */
  async *#giveUpResults(
    handover: BatchHandover,
    batchId: string,
    openRows: ReadonlyMap<string, AwaitedRow>,
  ): AsyncGenerator<PlannedJob> {
    const { ctx, retryUnknown } = this.#parts;
    const count = pluralize(openRows.size, 'row');
    ctx.io.error(
      `error: the results of batch ${batchId} at ${this.#provider.name} are gone: ${count} may have been paid for`,
    );

    if (!retryUnknown) {
      await this.#leaveInDoubt(handover, openRows);
      return;
    }

    reportSecondPayments(ctx, openRows.size);
    const preparedRows = await this.#prepareAll(openRows.values());
    if (preparedRows.length === 0) return;

    const nextHandover = this.#createHandover(preparedRows);
    yield* this.#waitForAnswers(nextHandover, await this.#send(nextHandover, preparedRows));
  }

  async #leaveInDoubt(
    { promptVersionId, rows }: BatchHandover,
    openRows: ReadonlyMap<string, AwaitedRow>,
  ): Promise<void> {
    for (const [customId, { job, reservation }] of openRows) {
      reservation?.markInDoubt();
      const { inputsDigest = '' } = rows.get(job.id) ?? {};
      const entry = this.#createJournalEntry(customId, { promptVersionId, inputsDigest });
      await this.#parts.settle(job, { kind: 'in doubt', entry, candidates: [], error: undefined });
    }
  }

  /** Yields a job whose creation, sent under the name of its request, takes the answer. */
  async *#yieldAnswered(
    { job, reservation: earlierReservation }: AwaitedRow,
    {
      handover,
      customId,
      answer,
    }: { handover: BatchHandover; customId: string; answer: BatchAnswer },
  ): AsyncGenerator<PlannedJob> {
    const { ctx, connection, promptVersionId, budget } = this.#parts;
    const request = await this.#findUnchangedRequest(handover, job);
    if (!request) {
      ctx.io.error(
        `error: row ${job.row} has changed since it was uploaded, so its answer was not used; restore the row, then add --resume`,
      );
      return;
    }

    this.#batches.offerAnswer(customId, answer);
    const { digest: inputsDigest } = buildRunBody(request);
    const entry = this.#createJournalEntry(customId, { promptVersionId, inputsDigest });
    const reservation =
      earlierReservation ?? budget.reserveUncapped(connection, { promptVersionId });
    const batchAnswer = { withdraw: () => this.#batches.withdrawAnswer(customId) };
    yield {
      job: { ...job, reservation, batchAnswer, buildRequest: () => Promise.resolve(request) },
      plan: { kind: 'repeat', entry },
    };
  }
}

/** Explains why a row of an ended batch has no result. */
function explainMissingResult({ state, fault }: BatchState): string {
  if (fault !== undefined) return fault;
  const isComplete = state === 'completed' || state === 'ended';
  return isComplete ? 'the batch has no result for the row' : `the batch is ${state}`;
}

function listRowDigests(
  preparedRows: readonly PreparedRow[],
): (readonly [id: string, inputsDigest: string])[] {
  return preparedRows.map(({ job, inputsDigest }) => [job.id, inputsDigest]);
}
