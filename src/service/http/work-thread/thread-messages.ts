import type { ErrorStatus } from '../../../wire/index.ts';

/** Work on a user's bytes that may take long. */
export type ThreadJob =
  | { readonly name: 'parseBody'; readonly bytes: Uint8Array }
  | {
      readonly name: 'describeImage';
      readonly head: Uint8Array;
      readonly size: number;
      readonly mediaType: string;
    };

export interface ThreadOrder {
  readonly id: number;
  readonly job: ThreadJob;
}

/** The end of a job: its result, a refusal of the request, or the message of another error. */
export interface ThreadReply {
  readonly id: number;
  readonly result?: unknown;
  readonly refusal?: { readonly status: ErrorStatus; readonly message: string };
  readonly errorMessage?: string;
}
