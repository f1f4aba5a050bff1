import type { RawAnswer } from '../../client/request.ts';
import type { Run } from '../../wire/index.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

/** A run as the service gave it; one whose creation was not answered is marked. */
export type CreatedRun = Run & { readonly recovered?: true };

/** A run that exists: with its outputs once it has ended, otherwise only its id. */
export type Created =
  | { readonly kind: 'ended'; readonly run: CreatedRun; readonly journalId: string }
  | {
      readonly kind: 'going';
      readonly runId: string;
      readonly journalId: string;
      /** The service has just said that it goes on; false where it may have ended meanwhile. */
      readonly fresh: boolean;
      /** It was taken from the list of runs, since the creation was not answered. */
      readonly recovered: boolean;
    };

export interface CreateOptions {
  /** Tries after the first, where it was certainly refused; the client's usual number by default. */
  readonly retries?: number | undefined;
  /** An entry of the journal to send once more, under the same key; a new one by default. */
  readonly entry?: JournalEntry | undefined;
  /** Called with the creation before it is sent, while it is written to the journal; awaited. */
  readonly onBegin?: (entry: JournalEntry) => Promise<void> | undefined;
  /** Called with every answer of the service to the creation. */
  readonly onAnswer?: (answer: RawAnswer) => void;
  /** Whether the list is looked at where the answer is lost; true by default. False leaves that to `searchRuns`. */
  readonly search?: boolean;
  /** Called each time it is about to be written to a connection. */
  readonly onSent?: () => void;
}
