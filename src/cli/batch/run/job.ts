import type { RunRow } from '../../../wire/index.ts';
import type { CreatedRun } from '../../creation/created.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';

/** What a job is called. */
export interface JobName {
  /** Names it among the others of its batch, also when the batch is resumed. */
  readonly id: string;
  /** Its number, from 1; for people and for the journal. */
  readonly row: number;
}

/** One run to make, whatever it is made from. */
export interface Job extends JobName {
  /** Makes what is sent; called when it starts, and where a creation is sent once more. @throws {CliError} its fault */
  request(): Promise<RunRequest>;
}

/** What is to be done with a job. */
export type JobPlan =
  | { readonly kind: 'create' }
  /** Its creation is sent once more under the same key: the service gives the one run. */
  | { readonly kind: 'repeat'; readonly entry: JournalEntry }
  /** Its run is known: it is waited for. */
  | { readonly kind: 'wait'; readonly runId: string; readonly recovered: boolean };

/** How a run came to its end. */
export interface RunFacts {
  readonly request: RunRequest | undefined;
  /** Milliseconds since the Unix epoch; undefined where its creation was another process's. */
  readonly startedAt: number | undefined;
}

/** What became of a job. */
export type JobOutcome =
  /** A run that has ended; `error` is why the job did not succeed. */
  | { readonly kind: 'ended'; readonly run: CreatedRun; readonly facts: RunFacts; readonly error?: unknown }
  /** It has no run, or one that the service no longer has. */
  | {
      readonly kind: 'failed';
      readonly runId: string | undefined;
      readonly facts: RunFacts;
      readonly error: unknown;
      /** The error as it was told when it came; undefined where it has just come. */
      readonly text?: string;
      /** The service answered with a fault of its own: it may have made a run all the same. */
      readonly mayHaveRun: boolean;
    }
  | { readonly kind: 'in doubt'; readonly candidates: readonly RunRow[]; readonly error: unknown }
  /** Its run goes on, or can't be asked for at present. */
  | { readonly kind: 'going on'; readonly runId: string; readonly error: unknown }
  /** It has no run yet, for a reason that is not its own. */
  | { readonly kind: 'put off'; readonly error: unknown }
  /** The batch was told to let go of it, `inDoubt` where its creation may have made a run that nobody knows. */
  | { readonly kind: 'dropped'; readonly inDoubt: boolean };

/** Where it is kept how far each job is. Every step resolves once it would survive a power cut. */
export interface JobJournal {
  /** Its creation is about to be sent. */
  creating(job: JobName, entry: JournalEntry): Promise<void>;
  /** Its creation was refused for now, and made no run. */
  waiting(job: JobName): Promise<void>;
  running(job: JobName, runId: string, recovered: boolean): Promise<void>;
}
