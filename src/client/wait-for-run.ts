import { MAX_RETRY_AFTER_MS } from '../net/retry-policy.ts';
import { isOver, type Run } from '../wire/index.ts';
import { PromptServiceError, RateLimitError, WaitTimeoutError } from './errors.ts';
import { isTransientFault } from './http/retry.ts';
import type { Pace, ReadOptions } from './request-options.ts';

const FIRST_INTERVAL_MS = 1000;
const LAST_INTERVAL_MS = 9000;
const INTERVAL_GROWTH = 1.5;

// Each interval grows by up to this share, so that many waiting clients don't poll in step.
const JITTER = 0.1;

/**
 * Time for which a run that the service itself named may be missing, because a replica may lag
 * behind.
 */
const MAX_RUN_MISSING_MS = 60_000;

/** The part of a client that `waitForRun` needs; `PromptService` has it. */
export interface PollingClient {
  readonly runs: { get(runId: string, options: ReadOptions): Promise<Run> };
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The result of one poll. */
export interface PollEvent {
  readonly run?: Run;
  /** A fault that did not end the wait. */
  readonly error?: Error;
  /** Milliseconds since the first of the last polls that all failed; 0 if this one succeeded. */
  readonly failingMs: number;
  /** The number of this poll, from 1. */
  readonly polls: number;
  /** The time since the wait began, in milliseconds. */
  readonly elapsedMs: number;
}

export interface WaitOptions {
  /** Ends the wait with the signal's reason; the run continues. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum wait in milliseconds; unlimited by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * True to poll first after one interval, for a run that is known to take longer; false by
   * default.
   */
  readonly delayFirst?: boolean;
  /**
   * True if the service gave the id: a 404 is then retried for a minute. False by default: a 404
   * ends the wait.
   */
  readonly idFromService?: boolean;
  /**
   * A fixed interval in milliseconds, for a service that is cheap to poll; by default the interval
   * grows.
   */
  readonly intervalMs?: number;
  /** Called after every poll. */
  readonly onPoll?: (event: PollEvent) => void;
  /** Awaited before each poll; default: the client's own pace, if any. */
  readonly pace?: Pace | undefined;
  /** Default: the client's own. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now?: () => number;
  readonly random?: () => number;
}

/**
 * Polls until a run has succeeded or failed, at intervals that grow from 1 s to about 10 s. Network
 * faults, 429 and 5xx don't end the wait.
 *
 * @throws {WaitTimeoutError} if `timeoutMs` passes, or the service asks for a longer wait; the run
 * continues
 * @throws {NotFoundError | UnauthorizedError} and any other fault that polling again can't mend
 */
export async function waitForRun(
  client: PollingClient,
  runId: string,
  options: WaitOptions = {},
): Promise<Run> {
  return await new RunWait(client, runId, options).waitForEnd();
}

class RunWait {
  readonly #client: PollingClient;
  readonly #runId: string;
  readonly #options: WaitOptions;
  readonly #now: () => number;
  readonly #startedAt: number;
  #failingPolls: FailingPolls | undefined;

  constructor(client: PollingClient, runId: string, options: WaitOptions) {
    this.#client = client;
    this.#runId = runId;
    this.#options = options;
    this.#now = options.now ?? client.now;
    this.#startedAt = this.#now();
  }

  async waitForEnd(): Promise<Run> {
    if (this.#options.delayFirst) await this.#pause(this.#getInterval(0));
    for (let pollNumber = 1; ; pollNumber += 1) {
      const { run, error } = await this.#poll(pollNumber);
      if (run && isOver(run)) return run;
      const retryAfterMs = getRequestedWait(error);
      if (retryAfterMs > this.#getTimeLeft()) throw this.#timeoutError();
      await this.#pause(Math.max(this.#getInterval(pollNumber - 1), retryAfterMs));
    }
  }

  /** Polls and reports the result. @throws a fault that polling again can't mend */
  async #poll(pollNumber: number): Promise<PollResult> {
    const polledAt = this.#now();
    const result = await poll(this.#client, this.#runId, this.#options, this.#getTimeLeft());
    const { error } = result;
    this.#failingPolls = error && withFailure(this.#failingPolls, error, polledAt);
    if (error && !this.#isTransient(error)) throw error;

    const failingMs = this.#failingPolls === undefined ? 0 : this.#now() - this.#failingPolls.since;
    this.#options.onPoll?.({
      ...result,
      failingMs,
      polls: pollNumber,
      elapsedMs: this.#now() - this.#startedAt,
    });
    return result;
  }

  #isTransient(error: PromptServiceError): boolean {
    if (error.httpStatus !== 404) return isTransientFault(error);
    const missingSince = this.#failingPolls?.missingSince ?? this.#startedAt;
    return this.#options.idFromService === true && this.#now() - missingSince < MAX_RUN_MISSING_MS;
  }

  async #pause(ms: number): Promise<void> {
    const { signal, sleep = this.#client.sleep } = this.#options;
    const leftMs = this.#getTimeLeft();
    await sleep(Math.max(0, Math.min(ms, leftMs)), signal);
    if (ms >= leftMs) throw this.#timeoutError();
  }

  #getTimeLeft(): number {
    return (this.#options.timeoutMs ?? Number.POSITIVE_INFINITY) - (this.#now() - this.#startedAt);
  }

  #getInterval(pollIndex: number): number {
    const { intervalMs, random = this.#client.random } = this.#options;
    return intervalMs ?? computeGrowingInterval(pollIndex, random);
  }

  #timeoutError(): WaitTimeoutError {
    return new WaitTimeoutError(`run ${this.#runId} has not ended yet`, this.#runId);
  }
}

interface PollResult {
  readonly run?: Run;
  readonly error?: PromptServiceError;
}

// Without retries: the next poll is the retry.
async function poll(
  client: PollingClient,
  runId: string,
  { signal, pace }: WaitOptions,
  timeoutMs: number,
): Promise<PollResult> {
  try {
    const requestTimeoutMs = Number.isFinite(timeoutMs) ? Math.max(1, timeoutMs) : undefined;
    return {
      run: await client.runs.get(runId, { retries: 0, timeoutMs: requestTimeoutMs, signal, pace }),
    };
  } catch (error) {
    if (error instanceof PromptServiceError && !signal?.aborted) return { error };
    throw error;
  }
}

/** Polls that have failed without a break. */
interface FailingPolls {
  readonly since: number;
  /** The time of the first 404 among them. */
  readonly missingSince: number | undefined;
}

function withFailure(
  earlierPolls: FailingPolls | undefined,
  error: PromptServiceError,
  polledAt: number,
): FailingPolls {
  const isMissing = error.httpStatus === 404;
  return {
    since: earlierPolls?.since ?? polledAt,
    missingSince: earlierPolls?.missingSince ?? (isMissing ? polledAt : undefined),
  };
}

function computeGrowingInterval(pollIndex: number, random: () => number): number {
  const ms = Math.min(FIRST_INTERVAL_MS * INTERVAL_GROWTH ** pollIndex, LAST_INTERVAL_MS);
  return ms * (1 + JITTER * random());
}

function getRequestedWait(error: unknown): number {
  const retryAfterMs = error instanceof RateLimitError ? error.retryAfterMs : undefined;
  return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
}
