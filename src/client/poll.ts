import type { Run } from '../wire/index.ts';
import type { PromptService } from './client.ts';
import { RateLimitError, WaitTimeoutError } from './errors.ts';
import { isPassing, MAX_RETRY_AFTER_MS } from './retry.ts';

const FIRST_INTERVAL_MS = 1000;
const LAST_INTERVAL_MS = 9000;
const GROWTH = 1.5;
// Each interval is lengthened by up to this share, so that many waiting clients don't ask in step.
const JITTER = 0.1;

/** What a poll found. */
export interface PollEvent {
  readonly run?: Run;
  /** A fault that did not end the waiting. */
  readonly error?: Error;
  /** From 1. */
  readonly polls: number;
  readonly elapsedMs: number;
}

export interface WaitOptions {
  /** Ends the waiting at once, with the signal's reason; the run goes on. */
  readonly signal?: AbortSignal;
  /** How long to wait, in milliseconds; by default as long as it takes. */
  readonly timeoutMs?: number;
  /** Asks for the first time only after one interval; for a run that was just said to take longer. */
  readonly delayFirst?: boolean;
  /** Told of every poll. */
  readonly onPoll?: (event: PollEvent) => void;
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
  client: PromptService,
  runId: string,
  options: WaitOptions = {},
): Promise<Run> {
  const { signal, now = client.now, random = client.random, sleep = client.sleep } = options;
  const startedAt = now();
  const pause = async (ms: number): Promise<void> => {
    const left = (options.timeoutMs ?? Number.POSITIVE_INFINITY) - (now() - startedAt);
    await sleep(Math.max(0, Math.min(ms, left)), signal);
    if (ms >= left) throw new WaitTimeoutError(`run ${runId} is still going on`, runId);
  };
  if (options.delayFirst) await pause(interval(0, random));
  for (let polls = 1; ; polls++) {
    const found = await poll(client, runId, signal);
    options.onPoll?.({ ...found, polls, elapsedMs: now() - startedAt });
    if (found.run && isOver(found.run)) return found.run;
    await pause(Math.max(interval(polls - 1, random), askedToWait(found.error)));
  }
}

/** Whether a run has come to its end (interface §3). */
export function isOver(run: Pick<Run, 'runStatus'>): boolean {
  return run.runStatus === 'succeeded' || run.runStatus === 'failed';
}

// The next poll is the retry.
async function poll(
  client: PromptService,
  runId: string,
  signal: AbortSignal | undefined,
): Promise<{ run?: Run; error?: Error }> {
  try {
    return { run: await client.runs.get(runId, { retries: 0, ...(signal && { signal }) }) };
  } catch (error) {
    if (isPassing(error) && error instanceof Error && !signal?.aborted) return { error };
    throw error;
  }
}

function interval(step: number, random: () => number): number {
  const ms = Math.min(FIRST_INTERVAL_MS * GROWTH ** step, LAST_INTERVAL_MS);
  return ms * (1 + JITTER * random());
}

function askedToWait(error: unknown): number {
  const asked = error instanceof RateLimitError ? error.retryAfterMs : undefined;
  return Math.min(asked ?? 0, MAX_RETRY_AFTER_MS);
}
