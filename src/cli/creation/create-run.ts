import { GatewayTimeoutError, ServiceError } from '../../client/errors.ts';
import {
  findListFault,
  findTextFault,
  requireData,
  withoutSavedTo,
} from '../../client/nouns/answer-data.ts';
import { computeBackoff, LOST_ANSWER_RETRIES } from '../../net/retry-policy.ts';
import { withTimeout } from '../../utils/abort-signals.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { isOver, type Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { configError, getStopCause, TimeLimitError, unwritableError } from '../core/errors.ts';
import {
  type JournalEntry,
  type JournalOutcome,
  mayHaveMadeRun,
} from '../settings/journal/journal-lines.ts';
import {
  type CreateRunOptions,
  type CreationRequest,
  type CreationResult,
  classifyCreationError,
} from './creation-result.ts';
import { CreationInDoubtError, explainDoubt } from './in-doubt.ts';
import { type SearchResult, searchRuns } from './search-runs.ts';
import {
  stoppedBeforeAnswerError,
  stoppedBeforeSendingError,
  stoppedOwnRunError,
  stoppedWaitingError,
} from './stop-errors.ts';

/** Maximum time of the search for a run after `--timeout`, in milliseconds. */
const MAX_LAST_SEARCH_MS = 1200;

/** The HTTP statuses that refuse the creation itself, not the key, the plan or the rate. */
const REFUSED_CREATION_STATUSES = [400, 404, 410, 413, 422];

/**
 * Creates a run exactly once: journal, then `POST`. If the answer is lost, sends the creation again
 * under the same key if the service keeps keys, else searches for the run that it may have made.
 *
 * @throws {CreationInDoubtError} if it is unknown whether it made a run, or which
 * @throws {CliError} INTERRUPTED or WAIT_TIMEOUT once the context's signal aborts; says whether the
 * run may continue
 * @throws the client's errors; no run was made, except maybe after a 5xx of the service's own
 */
export async function createRun(
  ctx: Context,
  connection: Connection,
  request: CreationRequest,
  options: CreateRunOptions,
): Promise<CreationResult> {
  ctx.signal.throwIfAborted();
  const { serviceName, client } = connection;
  const { promptVersionId, digest: inputsDigest } = request;
  const { offsetMs: clockOffsetMs } = client.clock;
  const entry =
    options.entry ??
    ctx.journal.createEntry({ service: serviceName, promptVersionId, inputsDigest, clockOffsetMs });
  await Promise.all([
    beginInJournal(ctx, entry, { again: options.entry !== undefined }),
    options.onBegin?.(entry),
  ]);

  return new RunCreation({ ctx, connection, request, entry, options }).complete();
}

async function beginInJournal(
  { journal }: Context,
  entry: JournalEntry,
  options: { readonly again: boolean },
): Promise<void> {
  try {
    await journal.begin(entry, options);
  } catch (error) {
    const directoryHint = 'or set PROMPTRUN_STATE_DIR to another directory.';
    const defaultError = configError(
      `the run was not started, because the journal ${journal.file} can't be written: ${getErrorMessage(error)}`,
      `Make the file writable, ${directoryHint}`,
    );
    throw unwritableError(error, defaultError, `Free some disk space, ${directoryHint}`);
  }
}

interface CreationParts {
  readonly ctx: Context;
  readonly connection: Connection;
  readonly request: CreationRequest;
  readonly entry: JournalEntry;
  readonly options: CreateRunOptions;
}

/** One creation, from its first attempt until it is known whether it made a run. */
class RunCreation {
  readonly #parts: CreationParts;
  /** True if any part of the current attempt may have reached the service. */
  #isSent = false;
  /** True if an earlier attempt may have made a run. */
  #isInDoubt: boolean;

  constructor(parts: CreationParts) {
    this.#parts = parts;
    this.#isInDoubt = parts.options.entry !== undefined && mayHaveMadeRun(parts.entry);
  }

  /**
   * Sends the creation until its answer is certain, or searches for the run that it may have made.
   */
  async complete(): Promise<CreationResult> {
    const { clock, signal } = this.#parts.ctx;
    for (let attempt = 1; ; attempt++) {
      try {
        return this.#recordAnswer(await this.#send(signal));
      } catch (error) {
        if (error instanceof GatewayTimeoutError) return this.#recordRunning(error.runId);
        if (signal.aborted) throw await this.#settleAfterAbort();

        if (this.#provesNoRun(error)) {
          this.#record({ outcome: 'refused' });
          throw error;
        }

        this.#isInDoubt = true;
        const waitMs = this.#keepsKeys ? this.#computeRetryDelay(attempt) : undefined;
        if (waitMs === undefined) return this.#recover(error, attempt);
        // The next attempt notices a signal that ended the wait.
        await clock.sleep(waitMs, signal).catch(() => {});
      }
    }
  }

  /** True if sending the creation again under its key returns the same run. */
  get #keepsKeys(): boolean {
    return this.#parts.connection.client.keepsIdempotencyKeys === true;
  }

  /** Sends the creation. No other code does. */
  async #send(signal: AbortSignal): Promise<Run> {
    const { connection, request, entry, options } = this.#parts;
    const { body, query, recordedRequest } = request;
    this.#isSent = false;
    if (recordedRequest !== undefined) {
      await connection.recorder?.registerRequest(entry.id, recordedRequest);
    }
    const answer = await connection.client.raw(
      'POST',
      query === undefined ? '/runs' : `/runs?${query}`,
      {
        signal,
        body,
        unsentSignal: this.#isInDoubt ? undefined : options.unsentSignal,
        idempotencyKey: entry.id,
        ...(options.retries !== undefined && { retries: options.retries }),
        onSent: () => {
          this.#isSent = true;
          options.onSent?.();
        },
        // The client retries only if the attempt certainly made no run.
        onRetry: () => {
          this.#isSent = false;
        },
      },
    );
    options.onAnswer?.(answer);
    if (answer.error !== undefined) throw answer.error;

    const { data } = answer.envelope as { data: Run };
    const run = requireData(
      { ...answer, data },
      'run',
      fields => findTextFault(fields, 'runId', 'runStatus') ?? findListFault(fields, 'outputs'),
    );
    return withoutSavedTo(run);
  }

  #recordAnswer(run: Run): CreationResult {
    const { runId, runStatus } = run;
    const journalId = this.#parts.entry.id;
    if (isOver(run)) {
      this.#record({ outcome: 'ended', runId, runStatus });
      return { kind: 'ended', run, journalId };
    }

    this.#record({ outcome: 'created', runId, runStatus });
    return { kind: 'running', runId, runStatus, journalId, recovered: false };
  }

  #recordRunning(
    runId: string,
    { runStatus = 'running', recovered = false }: { runStatus?: string; recovered?: boolean } = {},
  ): CreationResult {
    this.#record({ outcome: 'created', runId, ...(recovered && { recovered }) });
    return { kind: 'running', runId, runStatus, journalId: this.#parts.entry.id, recovered };
  }

  /**
   * Returns true if an error proves that no run exists. After a lost answer, only a refusal of the
   * creation itself does.
   */
  #provesNoRun(error: unknown): boolean {
    return (
      classifyCreationError(error) === 'refused' && (!this.#isInDoubt || isAboutCreation(error))
    );
  }

  /** Returns the milliseconds to wait before the next attempt; undefined after the last one. */
  #computeRetryDelay(attempt: number): number | undefined {
    const { clock } = this.#parts.ctx;
    return computeBackoff(LOST_ANSWER_RETRIES, { attempt }, () => clock.random());
  }

  /**
   * Searches for the run that the creation may have made.
   *
   * @throws the error, or that the creation is in doubt
   */
  async #recover(error: unknown, attempt: number): Promise<CreationResult> {
    if (classifyCreationError(error) === 'failed' && attempt === 1) {
      this.#record({ outcome: 'failed' });
      throw error;
    }

    this.#record({ outcome: 'lost' });
    const { ctx, connection, entry, options } = this.#parts;
    if (options.searchesIfLost === false) {
      throw new CreationInDoubtError(error, undefined, entry, connection);
    }

    const { io, signal } = ctx;
    io.note(`note: ${explainDoubt(error)}; searching for the run that it may have made`);
    const keptKeysBefore = this.#keepsKeys;
    const { run, candidates } = await this.#search(signal);
    if (signal.aborted) throw await this.#settleAfterAbort();

    if (run !== undefined) {
      io.note(`note: continuing with run ${run.runId}, the only match: nobody else uses the key`);
      return this.#recordRunning(run.runId, { runStatus: run.runStatus, recovered: true });
    }

    // The answer to the list request may have shown that the service keeps keys.
    if (!keptKeysBefore && this.#keepsKeys) return this.complete();
    throw new CreationInDoubtError(error, candidates, entry, connection);
  }

  /** Searches for the run. Returns no candidates if the list could not be read. */
  async #search(signal: AbortSignal): Promise<Partial<Pick<SearchResult, 'run' | 'candidates'>>> {
    const { ctx, connection, entry } = this.#parts;
    const [search] = await searchRuns(ctx, connection, [entry], { signal }).catch(() => []);
    return search ?? {};
  }

  /** Stops or gives up the creation once the signal aborts, and returns the error to throw. */
  async #settleAfterAbort(): Promise<unknown> {
    const { ctx, connection, entry } = this.#parts;
    const reason: unknown = ctx.signal.reason;
    const cause = getStopCause(reason);

    // A run that this process executes itself stops with it.
    const inProcessRuns = cause === undefined ? undefined : connection.inProcessRuns;
    const stopResult = await inProcessRuns?.stop(entry.id, cause ?? '');
    if (stopResult !== undefined) {
      const { runId, isStopped } = stopResult;
      this.#record(
        isStopped
          ? { outcome: 'ended', runId, runStatus: 'failed' }
          : { outcome: 'created', runId },
      );
      return stoppedOwnRunError(reason, connection, stopResult);
    }

    const mayHaveRun = inProcessRuns === undefined && (this.#isSent || this.#isInDoubt);
    this.#record({ outcome: mayHaveRun ? 'interrupted' : 'refused' });
    if (!mayHaveRun) return stoppedBeforeSendingError(reason);

    if (reason instanceof TimeLimitError) {
      return withTimeout(MAX_LAST_SEARCH_MS, undefined, limit =>
        this.#settleAfterTimeout(reason, limit),
      );
    }

    return stoppedBeforeAnswerError(reason, connection, entry);
  }

  /**
   * Looks once for the run after `--timeout`, and returns the error to throw. If the service keeps
   * keys, the creation is sent again, which returns the run that it made; otherwise the list of
   * runs is searched.
   */
  async #settleAfterTimeout(reason: TimeLimitError, limitSignal: AbortSignal): Promise<unknown> {
    const { connection, entry, options } = this.#parts;
    if (this.#keepsKeys) {
      const runId = await this.#send(limitSignal).then(run => run.runId, findTimeoutRunId);
      if (runId === undefined) return stoppedBeforeAnswerError(reason, connection, entry);
      this.#record({ outcome: 'created', runId });
      return stoppedWaitingError(reason, connection, runId);
    }

    if (options.searchesIfLost === false) {
      return stoppedBeforeAnswerError(reason, connection, entry);
    }

    const { run, candidates } = await this.#search(limitSignal);
    if (run === undefined) return stoppedBeforeAnswerError(reason, connection, entry, candidates);

    this.#record({ outcome: 'created', runId: run.runId, recovered: true });
    return stoppedWaitingError(reason, connection, run.runId);
  }

  /**
   * Writes an outcome to the journal. A failed write is only reported, because it must not cost the
   * result. Closing the journal awaits the write.
   */
  #record(outcome: JournalOutcome): void {
    const { ctx, connection, entry } = this.#parts;
    const { io, journal } = ctx;
    const clockOffsetMs = entry.clockOffsetMs ?? connection.client.clock.offsetMs;
    journal
      .recordOutcome(
        entry.id,
        { ...outcome, ...(clockOffsetMs !== undefined && { clockOffsetMs }) },
        { isDurable: !connection.isEmbedded },
      )
      .catch((error: unknown) => {
        io.note(`note: the journal ${journal.file} can't be written: ${getErrorMessage(error)}`);
      });
  }
}

function isAboutCreation(error: unknown): boolean {
  return error instanceof ServiceError && REFUSED_CREATION_STATUSES.includes(error.httpStatus);
}

function findTimeoutRunId(error: unknown): string | undefined {
  return error instanceof GatewayTimeoutError ? error.runId : undefined;
}
