import type { ErrorStatus } from '../../wire/index.ts';

/** Work on a user's bytes that may take long. */
export type Job =
  | { readonly name: 'parseBody'; readonly bytes: Uint8Array }
  | {
      readonly name: 'describeImage';
      readonly head: Uint8Array;
      readonly size: number;
      readonly mediaType: string;
    };

export interface Order {
  readonly id: number;
  readonly job: Job;
}

/** The end of a job: its result, a refusal of the request, or a fault. */
export interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly refusal?: { readonly status: ErrorStatus; readonly message: string };
  readonly fault?: string;
}
