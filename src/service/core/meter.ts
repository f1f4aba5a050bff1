/** Receives events of the service for metrics. Times are in milliseconds. */
export interface Meter {
  /** Counts an answered request; `route` is the declared path, never the path as sent. */
  requestAnswered(served: {
    readonly method: string;
    readonly route: string | undefined;
    readonly httpStatus: number;
    readonly durationMs: number;
  }): void;
  runCreated(model: string): void;
  runStarted(model: string, afterMs: number): void;
  runEnded(model: string, status: 'succeeded' | 'failed', afterMs: number): void;
  /** Counts a finished statement of the store. */
  queryEnded(durationMs: number): void;
}
