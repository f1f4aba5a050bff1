/** What happens in the service, to be counted; without a meter nothing is. Times in milliseconds. */
export interface Meter {
  /** A request was answered; `route` is the path as it is declared, never as it was sent. */
  request(served: {
    readonly method: string;
    readonly route: string | undefined;
    readonly httpStatus: number;
    readonly durationMs: number;
  }): void;
  runCreated(model: string): void;
  runStarted(model: string, afterMs: number): void;
  runEnded(model: string, status: 'succeeded' | 'failed', afterMs: number): void;
  /** A statement of the store has ended. */
  query(durationMs: number): void;
}
