/** What processes that share a store tell each other; it may be lost, so nothing depends on it but speed. */
export interface Signals {
  /** There is a queued run that any process may take up. */
  queued(): void;
  /** A run has ended that another process may be waiting for. */
  ended(runId: string): void;
  /** From now on `listener` is told of what others say. */
  subscribe(listener: SignalListener): void;
}

export interface SignalListener {
  onQueued(): void;
  /** `undefined`: any run may have ended, since something may have been missed. */
  onEnded(runId: string | undefined): void;
}

/** For a store whose processes find out by looking. */
export const NO_SIGNALS: Signals = { queued() {}, ended() {}, subscribe() {} };
