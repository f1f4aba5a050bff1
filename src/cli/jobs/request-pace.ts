import PQueue from 'p-queue';
import type { Pace, PacedAnswer } from '../../client/request-options.ts';
import { MAX_RETRY_AFTER_MS } from '../../net/retry-policy.ts';
import { type Clock, createSteadyTime } from '../core/clock.ts';
import { TimeLimitError } from '../core/errors.ts';

/**
 * Gaps shorter than this, in milliseconds, may shrink to make up for a timer that was late by at
 * most this long. Longer gaps never shrink.
 */
const CATCH_UP_MS = 20;

/**
 * The first pause after a 429 without a Retry-After, in milliseconds; each consecutive one doubles
 * it.
 */
const FIRST_PAUSE_MS = 1000;
const MAX_PACE_PAUSE_MS = 60_000;

/** Minimum gap between requests after a 429, in milliseconds, before the slowdown multiplies it. */
const MIN_SLOW_GAP_MS = 20;

/** Maximum factor by which 429s slow the requests down. */
const MAX_SLOWDOWN = 64;

/** Factor by which each good answer reduces the slowdown. */
const RECOVERY_FACTOR = 0.95;

/** Requests per second until the service names a limit. */
const DEFAULT_RATE = 5;

/**
 * Matches the quota of a policy in a `RateLimit-Policy` header, such as `"user";q=600;w=60`. See
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/.
 */
const QUOTA_PARAMETER = /;\s*q=(?<quota>\d{1,9})(?=\s*(?:;|$))/u;

/** Matches the window of such a policy, in seconds. */
const WINDOW_PARAMETER = /;\s*w=(?<seconds>\d{1,9})(?=\s*(?:;|$))/u;

export interface RequestPaceOptions {
  /**
   * Requests per second, 0 for no limit. If undefined, the service's limit, and 5 until it names
   * one.
   */
  readonly perSecond: number | undefined;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /**
   * A turn fails immediately if a 429 pauses all requests for longer than this. Default unlimited.
   */
  readonly timeLeftMs?: () => number;
  /** Called when all requests pause after a 429. */
  readonly onPause?: (ms: number) => void;
  /** Called once, when the number of waiting requests reaches one second's worth. */
  readonly onThrottled?: (perSecond: number) => void;
}

/**
 * Lets requests through in order and evenly spaced. A 429 pauses all of them and slows them down
 * afterwards.
 */
export class RequestPace implements Pace {
  readonly #options: RequestPaceOptions;
  readonly #now: () => number;
  readonly #turns = new PQueue({ concurrency: 1 });
  #perSecond: number;
  #isThrottlingReported = false;
  #nextAt = 0;
  #pausedUntil = 0;
  /** The number of consecutive pauses. */
  #pauseCount = 0;
  #slowdown = 1;

  constructor(options: RequestPaceOptions) {
    this.#options = options;
    this.#now = createSteadyTime(options.clock);
    this.#perSecond = options.perSecond ?? DEFAULT_RATE;
  }

  async turn(signal: AbortSignal | undefined): Promise<void> {
    const isIdle = this.#turns.size + this.#turns.pending === 0;
    if (isIdle && this.#computeWaitMs() <= 0) return this.#waitForTurn(signal);
    if (this.#perSecond > 0 && this.#turns.size >= this.#perSecond) this.#reportThrottling();
    await this.#turns.add(() => this.#waitForTurn(signal), signal && { signal });
  }

  answered({ limited, retryAfterMs, policy }: PacedAnswer): void {
    if (this.#options.perSecond === undefined) {
      this.#perSecond = parseRate(policy ?? '') ?? this.#perSecond;
    }
    if (limited) {
      this.#pause(retryAfterMs);
    } else {
      this.#pauseCount = 0;
      this.#slowdown = Math.max(1, this.#slowdown * RECOVERY_FACTOR);
    }
  }

  #reportThrottling(): void {
    if (!this.#isThrottlingReported) this.#options.onThrottled?.(this.#perSecond);
    this.#isThrottlingReported = true;
  }

  /**
   * Waits for the gap after the last request, and for pauses, including one that begins meanwhile.
   */
  async #waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    this.#throwIfNoTurn(signal);
    let waitMs = this.#computeWaitMs();
    while (waitMs > 0) {
      await clock.sleep(waitMs, signal);
      this.#throwIfNoTurn(signal);
      waitMs = this.#computeWaitMs();
    }

    const gapMs = this.#computeGapMs();
    const allowedLateMs = gapMs < CATCH_UP_MS ? CATCH_UP_MS : 0;
    this.#nextAt = Math.max(this.#nextAt, this.#now() - allowedLateMs) + gapMs;
  }

  /** @throws the signal's reason, or `TimeLimitError` if a pause lasts longer than the time left */
  #throwIfNoTurn(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    const { timeLeftMs = () => Number.POSITIVE_INFINITY } = this.#options;
    const pauseMs = this.#pausedUntil - this.#now();
    if (pauseMs > timeLeftMs()) throw new TimeLimitError(pauseMs);
  }

  #computeWaitMs(): number {
    return Math.max(this.#nextAt, this.#pausedUntil) - this.#now();
  }

  #computeGapMs(): number {
    const usualGapMs = this.#perSecond === 0 ? 0 : 1000 / this.#perSecond;
    return this.#slowdown === 1
      ? usualGapMs
      : Math.max(usualGapMs, MIN_SLOW_GAP_MS) * this.#slowdown;
  }

  /** Pauses all requests. 429s of concurrent requests count once. */
  #pause(retryAfterMs: number | undefined): void {
    const now = this.#now();
    const isNew = now >= this.#pausedUntil;
    if (isNew) {
      this.#pauseCount += 1;
      this.#slowdown = Math.min(this.#slowdown * 2, MAX_SLOWDOWN);
    }

    const backoffMs = isNew
      ? Math.min(FIRST_PAUSE_MS * 2 ** (this.#pauseCount - 1), MAX_PACE_PAUSE_MS)
      : 0;

    // A request with a longer Retry-After gives up, or waits without holding up the others.
    const isRetryAfterUsable = retryAfterMs !== undefined && retryAfterMs <= MAX_RETRY_AFTER_MS;
    const pauseMs = isRetryAfterUsable ? retryAfterMs : backoffMs;
    if (now + pauseMs > this.#pausedUntil) {
      this.#pausedUntil = now + pauseMs;
      this.#options.onPause?.(pauseMs);
    }
  }
}

/**
 * Returns the tightest policy of a `RateLimit-Policy` header in requests per second, or undefined
 * if it has none.
 */
function parseRate(header: string): number | undefined {
  const rates = header.split(',').flatMap(policy => {
    const { quota } = QUOTA_PARAMETER.exec(policy)?.groups ?? {};
    const { seconds } = WINDOW_PARAMETER.exec(policy)?.groups ?? {};
    const rate = Number(quota) / Number(seconds);
    return rate > 0 && Number.isFinite(rate) ? [rate] : [];
  });
  return rates.length === 0 ? undefined : Math.min(...rates);
}
