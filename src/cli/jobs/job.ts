import type { RunRow } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import type { CreatedRun } from '../creation/creation-result.ts';
import type { Reservation } from '../creation/spending/budget.ts';
import type { RunRequest } from '../inputs/request-body.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

/** The id and number of a job. */
export interface JobName {
  /** Identifies the job within its batch, across resumptions. */
  readonly id: string;
  /** The job's number, from 1, for messages and the journal. */
  readonly row: number;
}

/** A run to make. */
export interface Job extends JobName {
  /**
   * Set if a provider's batch has answered it; called once it is settled. The journal has the
   * batch, so that the creation is never in doubt. Its duration is meaningless.
   */
  readonly batchAnswer?: { readonly withdraw: () => void };
  /** The estimate in the service's search results; undefined if it is the same for all jobs. */
  readonly estimatedCredits?: unknown;
  /** True for a question to a judge, whose failed run `--retry-unknown` makes again. */
  readonly isQuestion?: boolean;
  /**
   * The only creation that counts as the job's own, if another prompt may have been sent under its
   * id.
   */
  readonly expectedCreation?: Pick<JournalEntry, 'promptVersionId' | 'inputsDigest'>;
  /** Room in the budget that is already reserved. */
  readonly reservation?: Reservation;
  /**
   * Returns false once the job is no longer needed; called just before it starts. The job's outcome
   * is settled before the next job starts.
   */
  readonly isWanted?: () => boolean;
  /**
   * Builds the request; called when the job starts, and if its creation is sent again.
   *
   * @throws {CliError} if its inputs are invalid
   */
  buildRequest(): Promise<RunRequest>;
}

/** The next action for a job. */
export type JobPlan =
  | { readonly kind: 'create' }
  /** Send its creation again under the same key; the service returns the existing run. */
  | { readonly kind: 'repeat'; readonly entry: JournalEntry }
  /** Wait for its known run. */
  | { readonly kind: 'wait'; readonly runId: string; readonly recovered: boolean };

/** The request of a run and the times of its creation and end. */
export interface RunDetails {
  readonly request: RunRequest | undefined;
  /**
   * The time of its creation, in milliseconds since the Unix epoch; undefined if another process
   * sent it.
   */
  readonly sentAt: number | undefined;
  /** The time at which its end was seen, in milliseconds since the Unix epoch. */
  readonly endedAt: number;
}

/**
 * Returns the seconds from the creation to the end, without waits before the creation; null if
 * unknown.
 */
export function computeRunSeconds({ sentAt, endedAt }: RunDetails): number | null {
  return sentAt === undefined ? null : Math.max(0, Math.round(endedAt - sentAt)) / 1000;
}

/** Returns the sum of the known results of `computeRunSeconds`, to the millisecond. */
export function sumSeconds(durations: readonly (number | null)[]): number {
  return (
    Math.round(durations.reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0) * 1000) / 1000
  );
}

export type JobOutcome =
  /** The run has ended; `error` is the reason if the job did not succeed. */
  | {
      readonly kind: 'ended';
      readonly run: CreatedRun;
      readonly details: RunDetails;
      /** True if the run's model was asked and nothing came back. */
      readonly isUnanswered?: boolean;
      readonly error?: unknown;
    }
  /** The job has no run, or one that the service no longer has. */
  | {
      readonly kind: 'failed';
      readonly runId: string | undefined;
      readonly details: RunDetails;
      readonly error: unknown;
      /** The text of an error that an earlier invocation reported; undefined for a new error. */
      readonly errorText?: string;
      /** True if the service answered with its own fault: it may have created a run anyway. */
      readonly mayHaveRun: boolean;
    }
  | InDoubt
  /** The run continues, or can't be polled at present. */
  | { readonly kind: 'running'; readonly runId: string; readonly error: unknown }
  /** The job has no run yet, for a reason that concerns other jobs too. */
  | { readonly kind: 'postponed'; readonly error: unknown; readonly isInJournal?: boolean }
  /**
   * The batch stopped before the job ended. `inDoubt` if its creation may have made a run of
   * unknown id; `runId` if its run was this process's own and has ended with it.
   */
  | {
      readonly kind: 'dropped';
      readonly isInDoubt: boolean;
      readonly runId?: string | undefined;
      readonly details: RunDetails;
    };

/** The job may have a run of unknown id: one of the candidates, if there are any. */
export interface InDoubt {
  readonly kind: 'in doubt';
  readonly entry: JournalEntry;
  readonly candidates: readonly RunRow[];
  readonly error: unknown;
}

/**
 * The journal of the jobs' states. Each method resolves once its line would survive a power cut.
 */
export interface JobJournal {
  /** Records that a creation is about to be sent. */
  recordCreation(job: JobName, entry: JournalEntry): Promise<void>;
  /** Records that a creation was refused for now and made no run. */
  recordWaiting(job: JobName): Promise<void>;
  recordRun(
    job: JobName,
    run: { readonly runId: string; readonly recovered: boolean },
  ): Promise<void>;
}

/** Returns the outcome of a job that failed without a run. */
export function toFailedOutcome(
  { clock }: Pick<Context, 'clock'>,
  error: unknown,
): Extract<JobOutcome, { kind: 'failed' }> {
  const details = { request: undefined, sentAt: undefined, endedAt: clock.now() };
  return { kind: 'failed', runId: undefined, details, error, mayHaveRun: false };
}
