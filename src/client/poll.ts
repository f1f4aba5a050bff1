import { MAX_RETRY_AFTER_MS } from '../net/retry.ts';
import { isOver, type Run } from '../wire/index.ts';
import { PromptServiceError, RateLimitError, WaitTimeoutError } from './errors.ts';
import type { Pace, ReadOptions } from './request.ts';
import { isPassing } from './retry.ts';

const FIRST_INTERVAL_MS = 1000;
const LAST_INTERVAL_MS = 9000;
const GROWTH = 1.5;
// Each interval is lengthened by up to this share, so that many waiting clients don't ask in step.
const JITTER = 0.1;
/** How long a run may be missing whose id the service itself gave: what answers may lag behind what created it. */
const MISSING_MS = 60_000;

/** What waiting needs of a client; `PromptService` is one. */
export interface PollingClient {
  readonly runs: { get(runId: string, options: ReadOptions): Promise<Run> };
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** What a poll found. */
export interface PollEvent {
  readonly run?: Run;
  /** A fault that did not end the waiting. */
  readonly error?: Error;
  /** How long every poll has ended in a fault, this one included, in milliseconds; 0 where `run` was found. */
  readonly failingMs: number;
  /** From 1. */
  readonly polls: number;
  /** Since the waiting began. */
  readonly elapsedMs: number;
}

export interface WaitOptions {
  /** Ends the waiting at once, with the signal's reason; the run goes on. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait, in milliseconds; by default as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** Asks for the first time only after one interval; for a run that is known to take longer. */
  readonly delayFirst?: boolean;
  /** The id came from the service, so a 404 is asked again for a minute. False by default: a 404 ends the waiting. */
  readonly idFromService?: boolean;
  /** Asks at this even interval, in milliseconds, instead of ever more seldom; for a service that costs nothing to ask. */
  readonly intervalMs?: number;
  /** Called with every poll. */
  readonly onPoll?: (event: PollEvent) => void;
  /** Asked before each poll; by default the client's own, if it has one. */
  readonly pace?: Pace | undefined;
  /** By default the client's own. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now?: () => number;
  readonly random?: () => number;
}

/**
 * Waits until a run has succeeded or failed: asks from every second up to every 10 s. Network faults, 429 and 5xx are
 * waited out.
 *
 * @throws {WaitTimeoutError} when `timeoutMs` is over; the run goes on
 * @throws {NotFoundError | UnauthorizedError} and any other fault that would not pass
 */
export async function waitForRun(
  client: PollingClient,
  runId: string,
  options: WaitOptions = {},
): Promise<Run> {
  const { signal, now = client.now, random = client.random, sleep = client.sleep } = options;
  const startedAt = now();
  const timeLeft = (): number => (options.timeoutMs ?? Number.POSITIVE_INFINITY) - (now() - startedAt);
  const pause = async (ms: number): Promise<void> => {
    const left = timeLeft();
    await sleep(Math.max(0, Math.min(ms, left)), signal);
    if (ms >= left) throw new WaitTimeoutError(`run ${runId} is still going on`, runId);
  };
  const waitAfter = (polls: number): number => options.intervalMs ?? interval(polls, random);
  if (options.delayFirst) await pause(waitAfter(0));
  const missingMs = options.idFromService ? MISSING_MS : 0;
  let failingSince: number | undefined;
  let missingSince: number | undefined;
  for (let polls = 1; ; polls++) {
    const askedAt = now();
    const { run, error } = await poll(client, runId, options, timeLeft());
    failingSince = error && (failingSince ?? askedAt);
    missingSince = error?.httpStatus === 404 ? (missingSince ?? askedAt) : error && missingSince;
    if (error && !mayPass(error, now() - (missingSince ?? askedAt) < missingMs)) throw error;
    const failingMs = failingSince === undefined ? 0 : now() - failingSince;
    const result = run ? { run } : { ...(error && { error }) };
    options.onPoll?.({ ...result, failingMs, polls, elapsedMs: now() - startedAt });
    if (run && isOver(run)) return run;
    await pause(Math.max(waitAfter(polls - 1), retryAfterOf(error)));
  }
}

function mayPass(error: PromptServiceError, mayAppear: boolean): boolean {
  return error.httpStatus === 404 ? mayAppear : isPassing(error);
}

// The next poll is the retry.
async function poll(
  client: PollingClient,
  runId: string,
  { signal, pace }: WaitOptions,
  timeoutMs: number,
): Promise<{ run?: Run; error?: PromptServiceError }> {
  try {
    const limit = Number.isFinite(timeoutMs) ? Math.max(1, timeoutMs) : undefined;
    return { run: await client.runs.get(runId, { retries: 0, timeoutMs: limit, signal, pace }) };
  } catch (error) {
    if (error instanceof PromptServiceError && !signal?.aborted) return { error };
    throw error;
  }
}

function interval(step: number, random: () => number): number {
  const ms = Math.min(FIRST_INTERVAL_MS * GROWTH ** step, LAST_INTERVAL_MS);
  return ms * (1 + JITTER * random());
}

function retryAfterOf(error: unknown): number {
  const retryAfterMs = error instanceof RateLimitError ? error.retryAfterMs : undefined;
  return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
}
