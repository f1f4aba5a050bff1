import PQueue from 'p-queue';
import type { Pace, PacedAnswer } from '../../client/request.ts';
import type { Clock } from '../core/types.ts';

/** Turns closer than this are caught up with where timers go off late; the gap between others is never less. */
const CATCH_UP_MS = 20;
/** The first pause where a 429 does not say how long; doubled as long as 429s follow each other. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A service that asks for more than this is asked again before. */
const LONGEST_ASKED_MS = 3_600_000;
/** Between two requests after a 429, where there was no limit before. */
const LEAST_SLOW_MS = 20;
const MOST_SLOWED = 64;
/** How much of being slowed down each good answer takes back. */
const RECOVERY = 0.95;

/** Requests a second while the service does not say how many there may be. */
const USUAL_RATE = 5;

export interface RequestPaceOptions {
  /** Requests a second; 0 is unlimited. If undefined, what the service says, and 5 until it does. */
  readonly perSecond: number | undefined;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Called when everything waits because the service asked for it. */
  readonly onPause?: (ms: number) => void;
  /** Called once, when as many requests wait for their turns as are sent in a second. */
  readonly onHeldBack?: (perSecond: number) => void;
}

/** Gives requests their turns in the order they ask, evenly spread; one 429 makes all of them wait and slower after. */
export class RequestPace implements Pace {
  readonly #options: RequestPaceOptions;
  readonly #turns = new PQueue({ concurrency: 1 });
  #perSecond: number;
  #isHeldBack = false;
  #nextAt = 0;
  #pausedUntil = 0;
  #pauses = 0;
  #slowed = 1;

  constructor(options: RequestPaceOptions) {
    this.#options = options;
    this.#perSecond = options.perSecond ?? USUAL_RATE;
  }

  async turn(signal: AbortSignal | undefined): Promise<void> {
    const nobodyWaits = this.#turns.size + this.#turns.pending === 0;
    if (nobodyWaits && this.#waitMs() <= 0) return this.#take(signal);
    if (this.#perSecond > 0 && this.#turns.size >= this.#perSecond) this.#holdBack();
    await this.#turns.add(() => this.#take(signal), signal && { signal });
  }

  answered({ limited, retryAfterMs, policy }: PacedAnswer): void {
    if (this.#options.perSecond === undefined) this.#perSecond = rateIn(policy ?? '') ?? this.#perSecond;
    if (limited) {
      this.#pause(retryAfterMs);
    } else {
      this.#pauses = 0;
      this.#slowed = Math.max(1, this.#slowed * RECOVERY);
    }
  }

  #holdBack(): void {
    if (!this.#isHeldBack) this.#options.onHeldBack?.(this.#perSecond);
    this.#isHeldBack = true;
  }

  async #take(signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      const wait = this.#waitMs();
      if (wait <= 0) {
        const spacing = this.#spacing();
        const late = spacing < CATCH_UP_MS ? CATCH_UP_MS : 0;
        this.#nextAt = Math.max(this.#nextAt, clock.now() - late) + spacing;
        return;
      }
      await clock.sleep(wait, signal);
    }
  }

  #waitMs(): number {
    return Math.max(this.#nextAt, this.#pausedUntil) - this.#options.clock.now();
  }

  #spacing(): number {
    const usual = this.#perSecond === 0 ? 0 : 1000 / this.#perSecond;
    return this.#slowed === 1 ? usual : Math.max(usual, LEAST_SLOW_MS) * this.#slowed;
  }

  /** Requests that were under way together are refused together: that counts once. */
  #pause(askedMs: number | undefined): void {
    const now = this.#options.clock.now();
    const isNew = now >= this.#pausedUntil;
    if (isNew) {
      this.#pauses += 1;
      this.#slowed = Math.min(this.#slowed * 2, MOST_SLOWED);
    }
    const usual = isNew ? Math.min(FIRST_PAUSE_MS * 2 ** (this.#pauses - 1), LONGEST_PAUSE_MS) : 0;
    const ms = Math.min(askedMs ?? usual, LONGEST_ASKED_MS);
    if (now + ms > this.#pausedUntil) {
      this.#pausedUntil = now + ms;
      this.#options.onPause?.(ms);
    }
  }
}

/** The tightest of the policies of a `RateLimit-Policy` header, in requests a second; undefined if it has none. */
function rateIn(header: string): number | undefined {
  const rates = header.split(',').flatMap(policy => {
    const [, quota] = /;\s*q=(\d{1,9})(?=\s*(?:;|$))/u.exec(policy) ?? [];
    const [, window] = /;\s*w=(\d{1,9})(?=\s*(?:;|$))/u.exec(policy) ?? [];
    const rate = Number(quota) / Number(window);
    return rate > 0 && Number.isFinite(rate) ? [rate] : [];
  });
  return rates.length === 0 ? undefined : Math.min(...rates);
}
