import { randomUUID } from 'node:crypto';
import { messageOf } from '../../files/error-utils.ts';
import type { BatchProvider, BatchState } from '../../service/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../service/provider-batches/provider-batches.ts';
import type { Connection, Context } from '../context.ts';
import { exitCodeOfHttp } from '../core/failure.ts';
import { isObject } from '../core/json-value.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import type { PlannedJob } from './run/engine.ts';
import { failedOutcome, type Job, type JobOutcome } from './run/job.ts';
import type { BatchJournal } from './run/job-journal.ts';
import type { Stop } from './run/stop.ts';

export interface ProviderBatchParts {
  readonly ctx: Context;
  readonly connection: Connection;
  readonly promptVersionId: string;
  readonly journal: BatchJournal;
  readonly stop: Stop;
  /** Whether what was handed over is to be cancelled there, and nothing more handed over. */
  readonly cancel: boolean;
  readonly settle: (job: Job, outcome: JobOutcome) => Promise<void>;
}

/** Requests that were handed over, or are about to be, as one batch of the provider. */
interface HandedOver {
  /** Begins the name of each of its requests, and is what the batch is found by. */
  readonly key: string;
  readonly time: string;
  /** Ids of rows with the digests of their inputs; the nth is the request `<key>-<n>`. */
  readonly rows: readonly (readonly [id: string, digest: string])[];
  file?: string | undefined;
  batch?: string | undefined;
}

/** A row that a batch answers. */
interface Awaited {
  readonly job: Job;
  readonly handed: HandedOver;
  readonly customId: string;
  readonly digest: string;
}

const MARK = 'provider-batch:';
const FIRST_POLL_MS = 1000;
const LONGEST_POLL_MS = 30_000;
const RETRIES = 3;

/** Whether a batch has handed rows over to a provider. */
export function isHandedOver({ marks }: Pick<BatchJournal, 'marks'>): boolean {
  return [...marks.keys()].some(id => id.startsWith(MARK));
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
  readonly #handed: HandedOver[];
  readonly #awaited = new Map<HandedOver, Awaited[]>();
  #chunk: { job: Job; digest: string; parameters: object; bytes: number }[] = [];

  constructor(parts: ProviderBatchParts, batches: ProviderBatches, provider: BatchProvider) {
    this.#parts = parts;
    this.#batches = batches;
    this.#provider = provider;
    this.#handed = readMarks(parts.journal);
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
      const at = handed.rows.findIndex(([id]) => id === job.id);
      const customId = `${handed.key}-${at + 1}`;
      if (at >= 0 && (repeated === undefined || repeated === customId)) {
        return { job, handed, customId, digest: handed.rows[at]?.[1] ?? '' };
      }
    }
    return undefined;
  }

  #await(awaited: Awaited): void {
    this.#awaited.set(awaited.handed, [...(this.#awaited.get(awaited.handed) ?? []), awaited]);
  }

  async #take(job: Job): Promise<void> {
    const { ctx, cancel, settle } = this.#parts;
    try {
      if (cancel) throw usageError('the row was not handed over before the batch was cancelled');
      const body = buildRunBody(await job.request());
      const parameters = await this.#batches.prepare(await bodyOf(body.body.chunks()));
      const bytes = JSON.stringify(parameters).length + 200;
      const { limits } = this.#provider;
      const total = this.#chunk.reduce((sum, one) => sum + one.bytes, bytes);
      if (this.#chunk.length >= limits.requests || total > limits.bytes) await this.#handOver();
      this.#chunk.push({ job, digest: body.digest, parameters, bytes });
    } catch (error) {
      await settle(job, failedOutcome(ctx, serviceFault(error)));
    }
  }

  /** The journal holds what is handed over before it is. */
  async #handOver(): Promise<void> {
    const { ctx, journal, stop } = this.#parts;
    const chunk = this.#chunk;
    this.#chunk = [];
    if (chunk.length === 0 || stop.isStopping()) return;
    const key = randomUUID().replaceAll('-', '');
    const time = new Date(ctx.clock.now()).toISOString();
    const handed: HandedOver = { key, time, rows: chunk.map(({ job, digest }) => [job.id, digest]) };
    // A row that failed before is no longer taken for one that has ended.
    for (const { job } of chunk) if (journal.states.has(job.id)) await journal.waiting(job);
    await journal.mark(`${MARK}${key}/rows`, JSON.stringify({ time, rows: handed.rows }));
    const requests = chunk.map(({ parameters }, at) => ({ customId: `${key}-${at + 1}`, parameters }));
    if (!(await this.#create(handed, requests, chunk))) return;
    this.#handed.push(handed);
    for (const [at, { job, digest }] of chunk.entries()) {
      this.#await({ job, handed, customId: `${key}-${at + 1}`, digest });
    }
  }

  /** False if the provider refused it: then its rows have failed. */
  async #create(
    handed: HandedOver,
    requests: readonly { customId: string; parameters: object }[],
    rows: readonly { readonly job: Job }[],
  ): Promise<boolean> {
    const { ctx, settle } = this.#parts;
    const onFile = (file: string): Promise<void> => this.#note(handed, { file });
    for (let tries = 0; ; tries += 1) {
      try {
        const upload = { file: handed.file, onFile };
        const batch = await this.#provider.create(requests, handed.key, upload, ctx.signal);
        await this.#note(handed, { batch });
        return true;
      } catch (error) {
        ctx.signal.throwIfAborted();
        const status = statusOf(error);
        if (status === 429 && tries < RETRIES) {
          await ctx.clock.sleep(FIRST_POLL_MS * 2 ** tries, ctx.signal);
        } else if (status !== undefined && status >= 400 && status < 500) {
          const refused = this.#fault(`refused the batch: ${messageOf(error)}`, EXIT.runFailed);
          for (const { job } of rows) await settle(job, failedOutcome(ctx, refused));
          return false;
        } else {
          throw this.#fault(`did not answer the creation of the batch: ${messageOf(error)}`);
        }
      }
    }
  }

  async #note(handed: HandedOver, news: Pick<HandedOver, 'file' | 'batch'>): Promise<void> {
    Object.assign(handed, news);
    const { file, batch } = handed;
    await this.#parts.journal.mark(`${MARK}${handed.key}`, JSON.stringify({ file, batch }));
  }

  async *#collect(handed: HandedOver): AsyncGenerator<PlannedJob> {
    const rows = new Map((this.#awaited.get(handed) ?? []).map(row => [row.customId, row]));
    if (rows.size === 0 || this.#parts.stop.isStopping()) return;
    if (handed.batch === undefined) await this.#find(handed, [...rows.values()]);
    const ended = handed.batch === undefined ? undefined : await this.#wait(handed.batch, rows.size);
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
      if (!isGone(error)) throw this.#fault(`did not give its results: ${messageOf(error)}`);
      ctx.io.error(`error: the results of the batch ${handed.batch} at ${this.#provider.name} are gone`);
    }
    for (const [customId, row] of rows) {
      this.#batches.offer(customId, { fault: ended.fault ?? 'it gave no result for it' });
      yield this.#answered(row);
    }
  }

  /** Its creation under the name of its request takes the answer. */
  #answered({ job, handed, customId, digest }: Awaited): PlannedJob {
    const { connection, promptVersionId } = this.#parts;
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
    return { job: { ...job, isUntimed: true, request }, plan: { kind: 'repeat', entry } };
  }

  /** Looks for a batch whose creation was not answered; it is created again only if the provider has none. */
  async #find(handed: HandedOver, rows: readonly Awaited[]): Promise<void> {
    const { ctx } = this.#parts;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
      const found = await this.#provider
        .find(handed.key, handed.rows.length, ctx.signal)
        .catch((error: unknown) => {
          ctx.signal.throwIfAborted();
          throw this.#fault(`did not give its list of batches: ${messageOf(error)}`);
        });
      if (found === undefined) break;
      if (found !== 'unread') return await this.#note(handed, { batch: found.id });
      ctx.io.note('note: a batch that may be this one has not ended; waiting for it to tell');
      if (!(await this.#pause(pause))) return;
    }
    const requests = [];
    for (const { job, customId } of rows) {
      const { chunks } = buildRunBody(await job.request()).body;
      requests.push({ customId, parameters: await this.#batches.prepare(await bodyOf(chunks())) });
    }
    await this.#create(handed, requests, rows);
  }

  /** How a batch ended; undefined if it is left there. */
  async #wait(id: string, rows: number): Promise<BatchState | undefined> {
    const { ctx, cancel } = this.#parts;
    const { name } = this.#provider;
    if (cancel) await this.#provider.cancel(id, ctx.signal).catch(() => {});
    let shown = '';
    let shownAt = 0;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      const state = await this.#look(id);
      if (state?.ended) return state;
      const line =
        state &&
        `note: batch ${id} at ${name}: ${state.state}, ${state.done} done, ${state.failed} failed of ${rows}`;
      if (line !== undefined && (line !== shown || ctx.clock.now() - shownAt >= LONGEST_POLL_MS)) {
        ctx.io.note(line);
        [shown, shownAt] = [line, ctx.clock.now()];
      }
      if (await this.#pause(pause)) continue;
      ctx.io.note(
        `note: the batch ${id} goes on at ${name}; --resume collects it, with --cancel it is cancelled`,
      );
      return undefined;
    }
  }

  /** undefined if the provider can't be asked at present. */
  async #look(id: string): Promise<BatchState | undefined> {
    try {
      return await this.#provider.look(id, this.#parts.ctx.signal);
    } catch (error) {
      const status = statusOf(error);
      if (status === 404) return { state: 'gone', ended: true, done: 0, failed: 0, fault: 'it is gone' };
      if (status === 401 || status === 403)
        throw this.#fault(`refuses the key: ${messageOf(error)}`, EXIT.unauthorised);
      return undefined;
    }
  }

  /** False if nothing is waited for any more. */
  async #pause(ms: number): Promise<boolean> {
    const { ctx, stop } = this.#parts;
    await ctx.clock.sleep(ms, stop.reading).catch(() => {});
    return !stop.isStopping();
  }

  #fault(what: string, exitCode: CliError['exitCode'] = EXIT.fault): CliError {
    return new CliError(`${this.#provider.name} ${what}`, {
      status: exitCode === EXIT.runFailed ? 'RUN_FAILED' : 'NETWORK_ERROR',
      exitCode,
      hints:
        exitCode === EXIT.fault
          ? ['Go on with --resume: it looks for the batch before anything is handed over again.']
          : [],
    });
  }
}

function readMarks({ marks }: BatchJournal): HandedOver[] {
  return [...marks].flatMap(([id, text]): HandedOver[] => {
    const key =
      id.startsWith(MARK) && id.endsWith('/rows') ? id.slice(MARK.length, -'/rows'.length) : undefined;
    if (key === undefined) return [];
    const { time, rows } = JSON.parse(text) as Pick<HandedOver, 'time' | 'rows'>;
    const state = JSON.parse(marks.get(`${MARK}${key}`) ?? '{}') as Pick<HandedOver, 'file' | 'batch'>;
    return [{ key, time, rows, ...state }];
  });
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

function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? status : undefined;
}

function isGone(error: unknown): boolean {
  return (
    [404, 410].includes(statusOf(error) ?? 0) || (error instanceof Error && /results_url/.test(error.message))
  );
}
