/** Records events of the service for metrics. */
export interface Meter {
  /** Records an answered request; `route` is the declared path, never the path as sent. */
  recordRequest(request: {
    readonly method: string;
    readonly route: string | undefined;
    readonly httpStatus: number;
    readonly durationMs: number;
  }): void;
  recordRunCreation(model: string): void;
  recordRunStart(model: string, sinceCreationMs: number): void;
  recordRunEnd(model: string, status: 'succeeded' | 'failed', sinceCreationMs: number): void;
  /** Records a finished statement of the store. */
  recordQuery(durationMs: number): void;
}
