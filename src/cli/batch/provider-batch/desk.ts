import { messageOf } from '../../../files/error-utils.ts';
import type {
  BatchProvider,
  BatchRequest,
  BatchState,
} from '../../../service/provider-batches/batch-provider.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import type { BatchJournal } from '../run/job-journal.ts';
import type { Stop } from '../run/stop.ts';

/** Requests that were handed over, or are about to be, as one batch of the provider. */
export interface HandedOver {
  /** Begins the name of each of its requests, and is what the batch is found by. */
  readonly key: string;
  readonly time: string;
  /** Digests of the inputs by the ids of rows, in order: the nth is the request `<key>-<n>`. */
  readonly rows: ReadonlyMap<string, { readonly customId: string; readonly digest: string }>;
  file?: string | undefined;
  batch?: string | undefined;
}

const MARK = 'provider-batch:';
const FIRST_POLL_MS = 1000;
const LONGEST_POLL_MS = 30_000;
const RETRIES = 3;

/** Whether a batch has handed rows over to a provider. */
export function isHandedOver({ marks }: Pick<BatchJournal, 'marks'>): boolean {
  return [...marks.keys()].some(id => id.startsWith(MARK));
}

/** What was handed over before, in order. */
export function readHandedOver({ marks }: BatchJournal): HandedOver[] {
  return [...marks].flatMap(([id, text]): HandedOver[] => {
    const key =
      id.startsWith(MARK) && id.endsWith('/rows') ? id.slice(MARK.length, -'/rows'.length) : undefined;
    if (key === undefined) return [];
    const { time, rows } = JSON.parse(text) as { time: string; rows: [id: string, digest: string][] };
    const state = JSON.parse(marks.get(`${MARK}${key}`) ?? '{}') as Pick<HandedOver, 'file' | 'batch'>;
    return [{ ...handedOver(key, time, rows), ...state }];
  });
}

export function handedOver(
  key: string,
  time: string,
  rows: readonly (readonly [string, string])[],
): HandedOver {
  const named = rows.map(([id, digest], at) => [id, { customId: `${key}-${at + 1}`, digest }] as const);
  return { key, time, rows: new Map(named) };
}

/** Where batches are handed over, looked for and waited for; each step is in the journal. */
export class BatchDesk {
  readonly #parts: { ctx: Context; journal: BatchJournal; stop: Stop; cancel: boolean };
  readonly #provider: BatchProvider;

  /** @param parts `cancel` says whether what was handed over is to be cancelled */
  constructor(
    parts: { ctx: Context; journal: BatchJournal; stop: Stop; cancel: boolean },
    provider: BatchProvider,
  ) {
    this.#parts = parts;
    this.#provider = provider;
  }

  /** The journal holds what is handed over before it is. */
  async announce({ key, time, rows }: HandedOver): Promise<void> {
    const digests = [...rows].map(([id, { digest }]) => [id, digest]);
    await this.#parts.journal.mark(`${MARK}${key}/rows`, JSON.stringify({ time, rows: digests }));
  }

  /** Why the provider refused it; undefined if it took it. */
  async create(handed: HandedOver, requests: readonly BatchRequest[]): Promise<CliError | undefined> {
    const { ctx } = this.#parts;
    const onFile = (file: string): Promise<void> => this.#note(handed, { file });
    for (let tries = 0; ; tries += 1) {
      try {
        const upload = { file: handed.file, onFile };
        await this.#note(handed, {
          batch: await this.#provider.create(requests, handed.key, upload, ctx.signal),
        });
        return undefined;
      } catch (error) {
        ctx.signal.throwIfAborted();
        const status = statusOf(error);
        if (status === 429 && tries < RETRIES) {
          await ctx.clock.sleep(FIRST_POLL_MS * 2 ** tries, ctx.signal);
        } else if (status !== undefined && status >= 400 && status < 500) {
          return this.fault(`refused the batch: ${messageOf(error)}`, EXIT.runFailed);
        } else {
          throw this.fault(`did not answer the creation of the batch: ${messageOf(error)}`);
        }
      }
    }
  }

  async #note(handed: HandedOver, news: Pick<HandedOver, 'file' | 'batch'>): Promise<void> {
    Object.assign(handed, news);
    const { file, batch } = handed;
    await this.#parts.journal.mark(`${MARK}${handed.key}`, JSON.stringify({ file, batch }));
  }

  /** Looks for a batch whose creation was not answered; false if the provider has none. */
  async find(handed: HandedOver): Promise<boolean> {
    const { ctx } = this.#parts;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
      const found = await this.#provider
        .find(handed.key, handed.rows.size, ctx.signal)
        .catch((error: unknown) => {
          ctx.signal.throwIfAborted();
          throw this.fault(`did not give its list of batches: ${messageOf(error)}`);
        });
      if (found === undefined) return false;
      if (found !== 'unread') {
        await this.#note(handed, { batch: found.id });
        return true;
      }
      ctx.io.note('note: a batch that may be this one has not ended; waiting for it to tell');
      if (!(await this.#pause(pause))) return true;
    }
  }

  /** How a batch ended; undefined if it is left there. */
  async wait(id: string, rows: number): Promise<BatchState | undefined> {
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
        throw this.fault(`refuses the key: ${messageOf(error)}`, EXIT.unauthorised);
      return undefined;
    }
  }

  /** False if nothing is waited for any more. */
  async #pause(ms: number): Promise<boolean> {
    const { ctx, stop } = this.#parts;
    await ctx.clock.sleep(ms, stop.reading).catch(() => {});
    return !stop.isStopping();
  }

  /** A fault of the provider, which --resume goes on after. */
  fault(what: string, exitCode: CliError['exitCode'] = EXIT.fault): CliError {
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

/** The HTTP status of a refusal. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? status : undefined;
}
