import type {
  BatchAnswer,
  BatchProvider,
  BatchState,
} from '../../../models/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/runs/provider-batches.ts';
import { counted } from '../../core/counted.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import type { PlannedJob } from '../engine.ts';
import { failedOutcome, type Job } from '../job.ts';
import { BatchDesk, providerOf } from './desk.ts';
import { type Draft, Drafts, type Expected, type ProviderBatchParts } from './drafts.ts';
import { type HandedOver, handover, journalHandover, readHandedOver } from './handed-over.ts';

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
  yield* throughProviders(new Map([[parts.promptVersionId, jobs]]), parts);
}

/**
 * The same for the jobs of several versions, each in batches of its own: all are handed over before any is waited for.
 *
 * @param groups jobs by the version that they run
 */
export async function* throughProviders(
  groups: ReadonlyMap<string, AsyncIterable<PlannedJob> | Iterable<PlannedJob>>,
  parts: Omit<ProviderBatchParts, 'promptVersionId'>,
): AsyncGenerator<PlannedJob> {
  const handovers: { handover: Handover; jobs: AsyncIterable<PlannedJob> | Iterable<PlannedJob> }[] = [];
  for (const [promptVersionId, jobs] of groups) {
    const provider = await providerOf(parts.connection, promptVersionId);
    handovers.push({ handover: new Handover({ ...parts, promptVersionId }, provider), jobs });
  }
  try {
    for (const { handover, jobs } of handovers) yield* handover.handOver(jobs);
    for (const { handover } of parts.cancel ? handovers : []) await handover.cancel();
    for (const { handover } of handovers) yield* handover.answers();
  } finally {
    for (const { handover } of handovers) handover.reportLeft();
  }
}

class Handover {
  readonly #parts: ProviderBatchParts;
  readonly #batches: ProviderBatches;
  readonly #provider: BatchProvider;
  readonly #desk: BatchDesk;
  readonly #drafts: Drafts;
  readonly #handedBefore: readonly HandedOver[];
  readonly #expected = new Map<HandedOver, Expected[]>();
  /** Those whose results have not been collected. */
  readonly #open = new Set<HandedOver>();

  constructor(parts: ProviderBatchParts, { batches, provider }: Awaited<ReturnType<typeof providerOf>>) {
    this.#parts = parts;
    this.#batches = batches;
    this.#provider = provider;
    this.#handedBefore = readHandedOver(parts.journal).reverse();
    this.#desk = new BatchDesk(parts, provider);
    this.#drafts = new Drafts(parts, { batches, provider });
  }

  /** Says which batches go on without the command. */
  reportLeft(): void {
    this.#desk.reportLeft([...this.#open].flatMap(({ batch }) => batch ?? []));
  }

  /** Hands jobs over; gives those that need no batch. */
  async *handOver(jobs: AsyncIterable<PlannedJob> | Iterable<PlannedJob>): AsyncGenerator<PlannedJob> {
    for await (const planned of jobs) {
      const { job, plan } = planned;
      const handed = plan.kind === 'create' ? await this.#batchOf(job) : undefined;
      if (handed) this.#expect(handed, { job, reservation: undefined });
      else if (plan.kind !== 'create') yield planned;
      else await this.#handOverChunk(await this.#drafts.take(job));
    }
    await this.#handOverChunk(this.#drafts.rest());
  }

  async cancel(): Promise<void> {
    for (const { batch } of this.#expected.keys()) if (batch !== undefined) await this.#desk.cancel(batch);
  }

  /** Waits for the batches and gives the jobs that they answer. */
  async *answers(): AsyncGenerator<PlannedJob> {
    for (const [handed, rows] of this.#expected) yield* this.#answers(handed, rows);
  }

  #expect(handed: HandedOver, row: Expected): void {
    this.#open.add(handed);
    const rows = this.#expected.get(handed);
    if (rows) rows.push(row);
    else this.#expected.set(handed, [row]);
  }

  /** The batch that answers a job as it is now. */
  async #batchOf(job: Job): Promise<HandedOver | undefined> {
    const step = this.#parts.journal.states.get(job.id)?.step;
    const handed = this.#handedBefore.find(({ rows }) => rows.has(job.id));
    if (!handed || step === 'failed' || step === 'succeeded') return undefined;
    return (await this.#unchanged(handed, job)) && handed;
  }

  /** What a job asks for; undefined if that is no longer what was handed over. */
  async #unchanged({ rows, promptVersionId }: HandedOver, job: Job): Promise<RunRequest | undefined> {
    if (promptVersionId !== this.#parts.promptVersionId) return undefined;
    const request = await job.request().catch(() => undefined);
    const isSame = request && buildRunBody(request).digest === rows.get(job.id)?.inputsDigest;
    return isSame ? request : undefined;
  }

  async #handOverChunk(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 0 || this.#parts.stop.isStopping()) return;
    const handed = this.#handover(drafts);
    for (const row of await this.#handOver(handed, drafts)) this.#expect(handed, row);
  }

  #handover(drafts: readonly Draft[]): HandedOver {
    const made = { interface: this.#provider.interface };
    return handover(this.#parts.promptVersionId, rowsOf(drafts), made);
  }

  /** Puts it into the journal before it is handed over. Gives the rows that it answers; none if it was refused. */
  async #handOver(handed: HandedOver, drafts: readonly Draft[]): Promise<Expected[]> {
    const { ctx, journal, settle } = this.#parts;
    await journalHandover(journal, handed);
    // A row that failed before is no longer taken for one that has ended.
    const earlier = drafts.filter(({ job }) => journal.states.has(job.id));
    await Promise.all(earlier.map(({ job }) => journal.waiting(job)));
    ctx.io.note(`note: handing ${counted(drafts.length, 'row')} over to ${this.#provider.name} as a batch`);
    const requests = drafts.map(({ job, parameters }) => {
      return { customId: handed.rows.get(job.id)?.customId ?? '', parameters };
    });
    const refused = await this.#desk.create(handed, requests);
    if (!refused) return drafts.map(({ job, reservation }) => ({ job, reservation }));
    for (const { job, reservation } of drafts) {
      reservation?.refused();
      await settle(job, failedOutcome(ctx, refused));
    }
    return [];
  }

  async *#answers(handed: HandedOver, rows: readonly Expected[]): AsyncGenerator<PlannedJob> {
    if (rows.length === 0) return;
    this.#open.add(handed);
    if (this.#parts.stop.isStopping()) return;
    if (handed.batch === undefined && (await this.#desk.isMissing(handed))) {
      yield* this.#handOverAgain(handed, rows);
      return;
    }
    const { batch } = handed;
    const ended = batch === undefined ? undefined : await this.#desk.wait(batch, rows.length);
    if (batch === undefined || ended === undefined) return;
    yield* this.#collect(handed, { id: batch, ended }, rows);
    this.#open.delete(handed);
  }

  /** What was announced and never created; without the rows that are no longer wanted it is another batch. */
  async *#handOverAgain(handed: HandedOver, rows: readonly Expected[]): AsyncGenerator<PlannedJob> {
    const drafts: Draft[] = [];
    for (const { job } of rows) {
      const draft = await this.#drafts.draft(job, false);
      if (draft) drafts.push(draft);
    }
    // A file of requests that were made for another interface is of no use.
    const isSame = drafts.length === handed.rows.size && handed.interface === this.#provider.interface;
    const again = isSame ? handed : this.#handover(drafts);
    if (drafts.length > 0) yield* this.#answers(again, await this.#handOver(again, drafts));
  }

  async *#collect(
    handed: HandedOver,
    { id, ended }: { id: string; ended: BatchState | 'gone' },
    rows: readonly Expected[],
  ): AsyncGenerator<PlannedJob> {
    const open = new Map(rows.map(row => [handed.rows.get(row.job.id)?.customId ?? '', row]));
    if (ended === 'gone') {
      yield* this.#giveUp(handed, id, open);
      return;
    }
    for (const answers = this.#desk.collect(id); ; ) {
      const { done, value } = await answers.next();
      if (value === 'gone') {
        yield* this.#giveUp(handed, id, open);
        return;
      }
      if (done || value === undefined) break;
      const { customId, answer } = value;
      const row = open.get(customId);
      if (row && open.delete(customId)) yield* this.#answered(row, { handed, customId, answer });
    }
    const isWhole = ['completed', 'ended'].includes(ended.state);
    const fault = ended.fault ?? (isWhole ? 'it gave no result for it' : `the batch is ${ended.state}`);
    for (const [customId, row] of open) yield* this.#answered(row, { handed, customId, answer: { fault } });
  }

  /** The provider no longer has the results: what they cost is paid, and only the user can want to pay it again. */
  async *#giveUp(
    handed: HandedOver,
    id: string,
    open: ReadonlyMap<string, Expected>,
  ): AsyncGenerator<PlannedJob> {
    const { ctx, retryUnknown, settle } = this.#parts;
    const count = counted(open.size, 'row');
    ctx.io.error(
      `error: the results of the batch ${id} at ${this.#provider.name} are gone, of ${count} that may have been paid for`,
    );
    if (retryUnknown) {
      ctx.io.note(`note: --retry-unknown: ${counted(open.size, 'run')} may be paid for twice`);
      const drafts: Draft[] = [];
      for (const { job } of open.values()) {
        const draft = await this.#drafts.draft(job, true);
        if (draft) drafts.push(draft);
      }
      if (drafts.length === 0) return;
      const again = this.#handover(drafts);
      yield* this.#answers(again, await this.#handOver(again, drafts));
      return;
    }
    const { promptVersionId } = handed;
    for (const [customId, { job, reservation }] of open) {
      reservation?.lost();
      const { inputsDigest = '' } = handed.rows.get(job.id) ?? {};
      const time = new Date(ctx.clock.now()).toISOString();
      const entry = {
        id: customId,
        time,
        baseUrl: this.#parts.connection.service,
        promptVersionId,
        inputsDigest,
      };
      await settle(job, { kind: 'in doubt', entry, candidates: [], error: undefined });
    }
  }

  /** Its creation under the name of its request takes the answer. */
  async *#answered(
    { job, reservation: taken }: Expected,
    { handed, customId, answer }: { handed: HandedOver; customId: string; answer: BatchAnswer },
  ): AsyncGenerator<PlannedJob> {
    const { ctx, connection, promptVersionId, budget } = this.#parts;
    const request = await this.#unchanged(handed, job);
    if (!request) {
      const what = `row ${job.row} is no longer what was handed over, and its answer was left`;
      ctx.io.error(`error: ${what}; put it back as it was, then --resume`);
      return;
    }
    this.#batches.offer(customId, answer);
    const { digest: inputsDigest } = buildRunBody(request);
    const time = new Date(ctx.clock.now()).toISOString();
    const entry = { id: customId, time, baseUrl: connection.service, promptVersionId, inputsDigest };
    const reservation = taken ?? budget.paid(connection, { promptVersionId });
    const batched = { settled: () => this.#batches.withdraw(customId) };
    yield {
      job: { ...job, reservation, batched, request: () => Promise.resolve(request) },
      plan: { kind: 'repeat', entry },
    };
  }
}

function rowsOf(drafts: readonly Draft[]): (readonly [id: string, inputsDigest: string])[] {
  return drafts.map(({ job, inputsDigest }) => [job.id, inputsDigest]);
}
