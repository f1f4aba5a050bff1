/** Spreads the requests of a client out; `PromptService.pace` takes one. */
export interface Pace {
  /** Resolves when the next request may be sent; rejects with the signal's reason once it is aborted. */
  turn(signal: AbortSignal | undefined): Promise<void>;
  /** Told of every try that came to an end. */
  answered(answer: PacedAnswer): void;
}

export interface PacedAnswer {
  /** Whether there were too many requests (429). */
  readonly limited: boolean;
  /** What the answer asked to wait, in milliseconds; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;
}
