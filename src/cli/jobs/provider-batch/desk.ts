import type {
  BatchAnswer,
  BatchFault,
  BatchProvider,
  BatchRequest,
  BatchState,
} from '../../../models/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/runs/provider-batches.ts';
import type { Connection, Context } from '../../context.ts';
import { toCliError } from '../../core/failure.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import type { BatchJournal } from '../job-journal.ts';
import type { Stop } from '../stop.ts';
import { type HandedOver, journalProgress } from './handed-over.ts';

const FIRST_POLL_MS = 1000;
const LONGEST_POLL_MS = 30_000;
/** How long a provider may not know what it is asked for before the command gives up; the answer may be about to pass. */
const LONGEST_MISSING_MS = 60_000;
/** How often the state of a batch is told though it has not changed. */
const TELL_EVERY_MS = 30_000;

const DENIED = { status: 'FORBIDDEN_ERROR', exitCode: EXIT.unauthorised };
const BUSY = { status: 'TOO_MANY_REQUESTS_ERROR', exitCode: EXIT.rateLimited };
/** How the command ends after an answer with this HTTP status. */
const ENDS: Readonly<Record<number, Pick<CliError, 'status' | 'exitCode'> | undefined>> = {
  401: DENIED,
  402: DENIED,
  403: DENIED,
  429: BUSY,
  529: BUSY,
};

export interface DeskParts {
  readonly ctx: Context;
  readonly journal: BatchJournal;
  readonly stop: Stop;
}

/** @throws {CliError} for a model whose provider has no batches, or can't be asked */
export async function providerOf(
  { providerBatches }: Connection,
  promptVersionId: string,
): Promise<{ batches: ProviderBatches; provider: BatchProvider }> {
  if (!providerBatches) {
    throw usageError("--provider-batch works on this machine's own service only", 'Add --profile local');
  }
  const batches = await providerBatches();
  const provider = await batches.of(promptVersionId).catch((error: unknown) => {
    throw toCliError(error);
  });
  return { batches, provider };
}

/** Where batches are handed over, looked for, waited for and cancelled; each step is in the journal. */
export class BatchDesk {
  readonly #parts: DeskParts;
  readonly #provider: BatchProvider;

  constructor(parts: DeskParts, provider: BatchProvider) {
    this.#parts = parts;
    this.#provider = provider;
  }

  /** Hands requests over that are in the journal. Gives why the provider refused them; undefined if it took them. */
  async create(handed: HandedOver, requests: readonly BatchRequest[]): Promise<CliError | undefined> {
    const { ctx, journal } = this.#parts;
    const onUploaded = (file: string): Promise<void> => journalProgress(journal, handed, { file });
    try {
      const upload = { id: handed.file, onUploaded };
      const batch = await this.#provider.create(requests, handed.key, upload, ctx.signal);
      await journalProgress(journal, handed, { batch });
      return undefined;
    } catch (error) {
      const fault = this.fault(error);
      const isRefused = fault.exitCode === EXIT.fault && (statusOf(error) ?? 500) < 500;
      if (!isRefused) throw fault;
      return new CliError(fault.message, { status: 'RUN_FAILED', exitCode: EXIT.runFailed });
    }
  }

  /**
   * Looks for a batch whose creation was not answered; whether the provider has none. False too if that can't be told
   * before nothing more is wanted.
   */
  async isMissing(handed: HandedOver): Promise<boolean> {
    const { ctx, journal, stop } = this.#parts;
    const missing = new Missing();
    for (const pause of pauses(2)) {
      const looking = this.#provider.find(handed.key, handed.rows.size, stop.reading);
      const batch = await looking.catch((error: unknown) => {
        if (!missing.mayAskAgain(error, pause)) throw this.fault(error);
        return 'unread' as const;
      });
      if (batch === undefined) return true;
      if (batch !== 'unread') {
        await journalProgress(journal, handed, { batch: batch.id });
        return false;
      }
      ctx.io.note('note: a batch that may be this one has not ended; waiting for it to tell');
      if (!(await this.#pause(pause))) break;
    }
    return false;
  }

  async cancel(id: string): Promise<void> {
    try {
      await this.#provider.cancel(id, this.#parts.ctx.signal);
    } catch (error) {
      // One that has ended can't be cancelled any more.
      const state = await this.#look(id, () => true);
      if (state !== 'gone' && !state?.ended) throw this.fault(error);
    }
  }

  /**
   * How a batch ended, `gone` if the provider no longer has it; undefined if it is left there.
   *
   * @throws {CliError} for a provider that refuses to tell, or has not known the batch for a minute
   */
  async wait(id: string, rows: number): Promise<BatchState | 'gone' | undefined> {
    const { ctx } = this.#parts;
    const { name } = this.#provider;
    let last = { line: '', at: 0 };
    const missing = new Missing();
    for (const pause of pauses(1.5)) {
      const state = await this.#look(id, error => missing.mayAskAgain(error, pause));
      if (state === 'gone' || state?.ended) return state;
      const { done = 0, failed = 0 } = state ?? {};
      const line = `note: batch ${id} at ${name}: ${state?.state ?? 'no answer at present'}, ${done} done, ${failed} failed of ${rows}`;
      if (line !== last.line || ctx.clock.now() - last.at >= TELL_EVERY_MS) {
        ctx.io.note(line);
        last = { line, at: ctx.clock.now() };
      }
      if (!(await this.#pause(pause))) break;
    }
    return undefined;
  }

  /** Says which batches go on without the command. */
  reportLeft(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const [what, them] = ids.length === 1 ? ['batch', 'it'] : ['batches', 'them'];
    this.#parts.ctx.io.note(
      `note: the ${what} ${ids.join(', ')} ${ids.length === 1 ? 'goes' : 'go'} on at ${this.#provider.name}; --resume collects ${them}, with --cancel it cancels ${them}`,
    );
  }

  /**
   * The answers of a batch that has ended; after a fault that passes they begin anew.
   *
   * @returns `gone` if the provider no longer has them
   * @throws {CliError} for a provider that refuses them, or has not known them for a minute
   */
  async *collect(id: string): AsyncGenerator<{ customId: string; answer: BatchAnswer }, 'gone' | undefined> {
    const missing = new Missing();
    for (const pause of pauses(1.5)) {
      try {
        yield* this.#provider.collect(id, this.#parts.ctx.signal);
        return undefined;
      } catch (error) {
        if (statusOf(error) === GONE) return 'gone';
        if (!missing.mayAskAgain(error, pause) || !(await this.#pause(pause))) throw this.fault(error);
      }
    }
    return undefined;
  }

  /**
   * undefined if the provider can't be asked at present.
   *
   * @param mayPass whether a fault may be over the next time
   */
  async #look(id: string, mayPass: (error: unknown) => boolean): Promise<BatchState | 'gone' | undefined> {
    const { stop } = this.#parts;
    try {
      return await this.#provider.look(id, stop.reading);
    } catch (error) {
      if (stop.isStopping()) return undefined;
      if (statusOf(error) === GONE) return 'gone';
      const fault = this.fault(error);
      if (fault.exitCode === EXIT.unauthorised || (statusOf(error) === MISSING && !mayPass(error)))
        throw fault;
      return undefined;
    }
  }

  /** False if nothing is waited for any more. */
  async #pause(ms: number): Promise<boolean> {
    const { ctx, stop } = this.#parts;
    await ctx.clock.sleep(ms, stop.reading).catch(() => {});
    return !stop.isStopping();
  }

  /** What the provider did as the end of the command, after which `--resume` goes on. @throws what is not its doing */
  fault(error: unknown): CliError {
    if (!isBatchFault(error)) throw error;
    return new CliError(error.message, {
      ...(ENDS[error.status ?? 0] ?? { status: 'NETWORK_ERROR', exitCode: EXIT.fault }),
      hints: ['Go on with --resume: it looks for the batch before anything is handed over again.'],
    });
  }
}

function* pauses(growth: number): Generator<number> {
  for (let ms = FIRST_POLL_MS; ; ms = Math.min(ms * growth, LONGEST_POLL_MS)) yield ms;
}

/** The provider does not know what it is asked for, maybe only at present. */
const MISSING = 404;
/** The provider says that it no longer has it. */
const GONE = 410;

/** Counts for how long a provider has not known what it is asked for. */
class Missing {
  #waitedMs = 0;

  /** Returns true if it is asked again after the pause. */
  mayAskAgain(error: unknown, pauseMs: number): boolean {
    if (statusOf(error) !== MISSING || this.#waitedMs >= LONGEST_MISSING_MS) return false;
    this.#waitedMs += pauseMs;
    return true;
  }
}

function statusOf(error: unknown): number | undefined {
  return isBatchFault(error) ? error.status : undefined;
}

function isBatchFault(error: unknown): error is BatchFault {
  return error instanceof Error && error.name === 'BatchFault';
}
