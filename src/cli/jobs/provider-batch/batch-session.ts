import type {
  BatchAnswer,
  BatchFault,
  BatchProvider,
  BatchRequest,
  BatchState,
} from '../../../models/provider-batches/batch-provider.ts';
import type { ProviderBatches } from '../../../service/runs/provider-batches.ts';
import type { Connection, Context } from '../../context.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { toCliError } from '../../core/failure.ts';
import type { BatchJournal } from '../batch-journal.ts';
import type { StopControl } from '../stop-control.ts';
import { type BatchHandover, updateHandover } from './batch-handover.ts';

const FIRST_POLL_DELAY_MS = 1000;
const MAX_POLL_DELAY_MS = 30_000;

/** Maximum time for which 404s in a row are retried, in milliseconds. */
const MAX_MISSING_MS = 60_000;

/**
 * Time for which a batch must be missing from the provider's list, which may lag behind, in
 * milliseconds.
 */
const LIST_LAG_MS = 5000;

/** The interval of notes about an unchanged batch, in milliseconds. */
const NOTE_INTERVAL_MS = 30_000;

/** The factor by which the delay grows from poll to poll. */
const POLL_GROWTH = 1.5;

/** The factor by which the delay grows from search to search, each of which reads a list. */
const SEARCH_GROWTH = 2;

/** The provider does not know the batch, or not yet. */
const BATCH_NOT_FOUND = 404;

/** The provider no longer has the batch. */
const BATCH_GONE = 410;

const DENIED_EXIT = { status: 'FORBIDDEN_ERROR', exitCode: EXIT.unauthorised };
const BUSY_EXIT = { status: 'TOO_MANY_REQUESTS_ERROR', exitCode: EXIT.rateLimited };

/** The status and exit code of the command by the HTTP status of the provider's answer. */
const EXITS_BY_HTTP_STATUS: Readonly<
  Record<number, Pick<CliError, 'status' | 'exitCode'> | undefined>
> = {
  401: DENIED_EXIT,
  402: DENIED_EXIT,
  403: DENIED_EXIT,
  429: BUSY_EXIT,
  529: BUSY_EXIT,
};

export interface BatchSessionParts {
  readonly ctx: Context;
  readonly journal: BatchJournal;
  readonly stop: StopControl;
}

/**
 * Submits, finds, awaits, collects and cancels batches at a provider; writes each step to the
 * journal.
 */
export class BatchSession {
  readonly #parts: BatchSessionParts;
  readonly #provider: BatchProvider;

  constructor(parts: BatchSessionParts, provider: BatchProvider) {
    this.#parts = parts;
    this.#provider = provider;
  }

  /**
   * Submits journaled requests as a batch. Returns the provider's refusal, or undefined if it
   * accepted them.
   */
  async create(
    handover: BatchHandover,
    requests: readonly BatchRequest[],
  ): Promise<CliError | undefined> {
    const { ctx, journal } = this.#parts;
    const onUploaded = (fileId: string): Promise<void> =>
      updateHandover(journal, handover, { fileId });
    try {
      const upload = { id: handover.fileId, onUploaded };
      const batchId = await this.#provider.create(requests, handover.key, upload, ctx.signal);
      await updateHandover(journal, handover, { batchId });
      return undefined;
    } catch (error) {
      const fault = toBatchError(error);
      const isRefused = fault.exitCode === EXIT.fault && (findFaultStatus(error) ?? 500) < 500;
      if (!isRefused) throw fault;
      return new CliError(fault.message, { status: 'RUN_FAILED', exitCode: EXIT.runFailed });
    }
  }

  /**
   * Searches for a batch whose creation was not answered. Journals its id if the provider has it.
   * Returns `stopped` if the command stops before the result is certain.
   *
   * @throws {CliError} if the provider refuses to list its batches, or answers 404 for a minute
   */
  async findLostBatch(handover: BatchHandover): Promise<'found' | 'missing' | 'stopped'> {
    const { journal, stop } = this.#parts;
    const missingTimer = new MissingTimer();
    const reportChange = this.#createChangeReporter();
    const { key, time, rows, fileId } = handover;
    const createdAfterMs = time === undefined ? undefined : Date.parse(time);
    const criteria = { batchKey: key, createdAfterMs, requestCount: rows.size, fileId };

    let waitedMs = 0;
    for (const delayMs of generatePollDelays(SEARCH_GROWTH)) {
      const search = this.#provider.find(criteria, stop.stopSignal);
      const result = await search.catch((error: unknown) => {
        if (stop.isStopping()) return 'stopped' as const;
        if (!missingTimer.tryCountDelay(error, delayMs)) throw toBatchError(error);
        return 'unanswered' as const;
      });
      if (result === 'stopped') break;
      if (result !== 'unanswered') missingTimer.reset();

      if (typeof result === 'object') {
        await updateHandover(journal, handover, { batchId: result.id });
        return 'found';
      }

      const searchState = result ?? 'not listed';
      if (searchState === 'not listed' && waitedMs >= LIST_LAG_MS) return 'missing';

      reportChange(this.#describeSearch(searchState));
      if (!(await this.#sleep(delayMs))) break;
      waitedMs += delayMs;
    }

    return 'stopped';
  }

  async cancel(id: string): Promise<void> {
    try {
      await this.#provider.cancel(id, this.#parts.ctx.signal);
    } catch (error) {
      // A batch that has ended can't be cancelled any more.
      const state = await this.#readState(id, () => true);
      if (state !== 'gone' && !state?.hasEnded) throw toBatchError(error);
    }
  }

  /**
   * Waits for the end of a batch. Returns `gone` if the provider no longer has it, or undefined if
   * the command stops first.
   *
   * @throws {CliError} if the provider refuses to report its state, or answers 404 for a minute
   */
  async wait(id: string, rowCount: number): Promise<BatchState | 'gone' | undefined> {
    const { name } = this.#provider;
    const reportChange = this.#createChangeReporter();
    const missingTimer = new MissingTimer();
    for (const delayMs of generatePollDelays(POLL_GROWTH)) {
      const state = await this.#readState(id, error => missingTimer.tryCountDelay(error, delayMs));
      if (state === 'gone' || state?.hasEnded) return state;
      if (state !== undefined) missingTimer.reset();
      const { doneCount = 0, failedCount = 0 } = state ?? {};
      reportChange(
        `note: batch ${id} at ${name}: ${state?.state ?? 'no answer yet'}, ${doneCount} done, ${failedCount} failed of ${rowCount}`,
      );
      if (!(await this.#sleep(delayMs))) break;
    }

    return undefined;
  }

  /** Reports the batches that continue without the command. */
  reportRunningBatches(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const [batches, them] = ids.length === 1 ? ['batch', 'it'] : ['batches', 'them'];
    this.#parts.ctx.io.note(
      `note: ${batches} ${ids.join(', ')} still running at ${this.#provider.name}; --resume collects ${them}, --resume --cancel cancels ${them}`,
    );
  }

  /**
   * Yields the results of an ended batch; after a 404, yields them again from the first. Yields
   * `gone` and ends if the provider no longer has them.
   *
   * @throws {CliError} if the provider refuses them or answers 404 for a minute, or if the command
   *   stops while it waits after a 404
   */
  async *collect(id: string): AsyncGenerator<{ customId: string; answer: BatchAnswer } | 'gone'> {
    const missingTimer = new MissingTimer();
    for (const delayMs of generatePollDelays(POLL_GROWTH)) {
      try {
        yield* this.#provider.collect(id, this.#parts.ctx.signal);
        return;
      } catch (error) {
        if (findFaultStatus(error) === BATCH_GONE) {
          yield 'gone';
          return;
        }
        if (!missingTimer.tryCountDelay(error, delayMs) || !(await this.#sleep(delayMs))) {
          throw toBatchError(error);
        }
      }
    }
  }

  #describeSearch(searchState: 'unread' | 'unanswered' | 'not listed'): string {
    if (searchState === 'unread') {
      return 'note: a batch that may be this one is still running; waiting for its end to identify it';
    }
    return searchState === 'unanswered'
      ? `note: ${this.#provider.name} does not return its batches yet; asking again`
      : `note: looking for the batch at ${this.#provider.name}`;
  }

  /**
   * Returns a function that prints a line if it differs from the last printed one, or if that was
   * printed 30 s ago.
   */
  #createChangeReporter(): (line: string) => void {
    const { io, clock } = this.#parts.ctx;
    let last = { line: '', reportedAt: 0 };
    return line => {
      if (line === last.line && clock.now() - last.reportedAt < NOTE_INTERVAL_MS) return;
      io.note(line);
      last = { line, reportedAt: clock.now() };
    };
  }

  /**
   * Reads the state of a batch. Returns undefined if the provider can't be reached at present.
   *
   * @param tryRetryMissing returns true if the read may be retried after a 404
   */
  async #readState(
    id: string,
    tryRetryMissing: (error: unknown) => boolean,
  ): Promise<BatchState | 'gone' | undefined> {
    const { stop } = this.#parts;
    try {
      return await this.#provider.readState(id, stop.stopSignal);
    } catch (error) {
      if (stop.isStopping()) return undefined;
      if (findFaultStatus(error) === BATCH_GONE) return 'gone';
      const fault = toBatchError(error);
      const staysMissing = findFaultStatus(error) === BATCH_NOT_FOUND && !tryRetryMissing(error);
      if (staysMissing || fault.exitCode === EXIT.unauthorised) throw fault;
      return undefined;
    }
  }

  /** Waits. Returns false if the command is stopping. */
  async #sleep(ms: number): Promise<boolean> {
    const { ctx, stop } = this.#parts;
    await ctx.clock.sleep(ms, stop.stopSignal).catch(() => {});
    return !stop.isStopping();
  }
}

/** The provider of a version's model, and what prepares its requests and takes its answers. */
export interface BatchProviderAccess {
  readonly batches: ProviderBatches;
  readonly provider: BatchProvider;
}

/**
 * Returns the provider of a version's model.
 *
 * @throws {CliError} if it has no batches, or can't be reached
 */
export async function findBatchProvider(
  { providerBatches }: Connection,
  promptVersionId: string,
): Promise<BatchProviderAccess> {
  if (!providerBatches) {
    throw usageError('--provider-batch works only on the embedded service', 'Add --profile local.');
  }

  const batches = await providerBatches();
  const provider = await batches.getProvider(promptVersionId).catch((error: unknown) => {
    throw toCliError(error);
  });
  return { batches, provider };
}

/**
 * Converts a provider's fault to the error that ends the command.
 *
 * @throws any other error unchanged
 */
function toBatchError(error: unknown): CliError {
  if (!isBatchFault(error)) throw error;
  return new CliError(error.message, {
    ...(EXITS_BY_HTTP_STATUS[error.status ?? 0] ?? {
      status: 'NETWORK_ERROR',
      exitCode: EXIT.fault,
    }),
    hints: [
      'Add --resume to continue: it searches for the batch before it uploads anything again.',
    ],
  });
}

/** Yields the milliseconds to wait before each next poll, without end. */
function* generatePollDelays(growth: number): Generator<number> {
  for (let ms = FIRST_POLL_DELAY_MS; ; ms = Math.min(ms * growth, MAX_POLL_DELAY_MS)) yield ms;
}

/** Limits the time for which 404s in a row are retried. */
class MissingTimer {
  #waitedMs = 0;

  /** Starts anew, after an answer other than 404. */
  reset(): void {
    this.#waitedMs = 0;
  }

  /**
   * Counts the delay before a retry after a 404. Returns false, and counts nothing, after another
   * fault or once the time is over.
   */
  tryCountDelay(error: unknown, delayMs: number): boolean {
    if (findFaultStatus(error) !== BATCH_NOT_FOUND || this.#waitedMs >= MAX_MISSING_MS) {
      return false;
    }
    this.#waitedMs += delayMs;
    return true;
  }
}

function findFaultStatus(error: unknown): number | undefined {
  return isBatchFault(error) ? error.status : undefined;
}

/** Compares names, because importing the class would load the providers with every command. */
function isBatchFault(error: unknown): error is BatchFault {
  return error instanceof Error && error.name === 'BatchFault';
}
