import {
  NetworkError,
  PaymentRequiredError,
  PromptServiceError,
  RateLimitError,
  UnauthorizedError,
} from '../../client/errors.ts';
import { MAX_RETRY_AFTER_MS } from '../../net/retry.ts';
import type { RunRow } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../core/failure.ts';
import { isObject } from '../core/json-value.ts';
import type { Reservation } from '../creation/budget.ts';
import type { CreatedRun } from '../creation/creation.ts';
import { CliError, notFoundError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { RunRequest } from '../inputs/request-body.ts';
import { ProviderFault } from '../outputs/provider-fault.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

/** What a job is called. */
export interface JobName {
  /** Names it among the others of its batch, also when the batch is resumed. */
  readonly id: string;
  /** Its number, from 1; for people and for the journal. */
  readonly row: number;
}

/** One run to make, whatever it is made from. */
export interface Job extends JobName {
  /**
   * Set if its model was asked in a batch of its provider; called once it is settled. That batch is in the journal, so its
   * creation is never in doubt, and how long it took says nothing.
   */
  readonly batched?: { readonly settled: () => void };
  /** What the service's search says that its run is expected to take; undefined if that is the same for all jobs. */
  readonly estimatedCredits?: unknown;
  /** Room in the budget that was taken before it is created. */
  readonly reservation?: Reservation;
  /**
   * Returns false once it is not needed any more; asked just before it starts. Its outcome is settled before the next job
   * starts.
   */
  readonly isWanted?: () => boolean;
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
  /** When its creation was sent, in milliseconds since the Unix epoch; undefined if another process sent it. */
  readonly sentAt: number | undefined;
  /** When its end was known, likewise. */
  readonly endedAt: number;
}

/** From the sending of the creation to the end, in seconds, without any waiting of ours; null if that is not known. */
export function secondsOf({ sentAt, endedAt }: RunFacts): number | null {
  return sentAt === undefined ? null : Math.round(endedAt - sentAt) / 1000;
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
      /** The error as it was reported when it came; undefined where it has just come. */
      readonly text?: string;
      /** The service answered with a fault of its own: it may have made a run all the same. */
      readonly mayHaveRun: boolean;
    }
  | InDoubt
  /** Its run goes on, or can't be asked for at present. */
  | { readonly kind: 'going on'; readonly runId: string; readonly error: unknown }
  /** It has no run yet, for a reason that is not its own. */
  | { readonly kind: 'put off'; readonly error: unknown; readonly isInJournal?: boolean }
  /** The batch was stopped before it ended, `inDoubt` where its creation may have made a run of unknown id. */
  | { readonly kind: 'dropped'; readonly inDoubt: boolean };

/** It may have a run of unknown id, one of the candidates if there are some. */
export interface InDoubt {
  readonly kind: 'in doubt';
  readonly entry: JournalEntry;
  readonly candidates: readonly RunRow[];
  readonly error: unknown;
}

/** Where it is kept how far each job is. Every step resolves once it would survive a power cut. */
export interface JobJournal {
  /** Its creation is about to be sent. */
  creating(job: JobName, entry: JournalEntry): Promise<void>;
  /** Its creation was refused for now, and made no run. */
  waiting(job: JobName): Promise<void>;
  running(job: JobName, runId: string, recovered: boolean): Promise<void>;
}

/** A fault of this machine, or of promptrun itself: the next job would meet it as well. */
export function isFatal(error: unknown): boolean {
  if (error instanceof CliError) return error.status === 'FILE_ERROR' || error.status === 'CONFIG_ERROR';
  return !(error instanceof PromptServiceError);
}

/** The run a wait was given up for, where the error names it. */
export function runIdOf(error: unknown): string | undefined {
  const runId = error instanceof CliError && isObject(error.data) ? error.data['runId'] : undefined;
  return typeof runId === 'string' ? runId : undefined;
}

/** The caps leave no room for it. */
export function isAtCap(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.capReached;
}

/** The service asks to come back much later. */
export function isLongPause(error: unknown): boolean {
  return error instanceof RateLimitError && (error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS;
}

/** Whether the creation made no run and may be sent again now. */
export function maySendAgain(error: unknown): boolean {
  return error instanceof RateLimitError
    ? !isLongPause(error)
    : error instanceof NetworkError && error.nothingSent;
}

/** Returns true for a refusal that every further job would meet: of the key, of the account, or of its quota. */
export function isRefusalOfAll(error: unknown): boolean {
  if (error instanceof ProviderFault) return error.kind === 'unauthorised' || error.kind === 'quota';
  return error instanceof UnauthorizedError || error instanceof PaymentRequiredError || isLongPause(error);
}

/** Returns true if nothing of the creation was sent to a service, or to the provider behind it. */
export function hasReachedNobody(error: unknown): boolean {
  if (error instanceof ProviderFault) return error.kind === 'unreachable';
  return error instanceof NetworkError && error.nothingSent;
}

/** The error as the results state it; with the row's line where it was found before anything was sent. */
export function errorText(error: unknown, place?: { readonly line: number }): string {
  const { message, status } = failureOf(error);
  const where = place !== undefined && error instanceof CliError ? `line ${place.line}: ` : '';
  return `${where}${message} (${status})`;
}

/** The outcome of a job that has no run. */
export function failedOutcome(
  { clock }: Pick<Context, 'clock'>,
  error: unknown,
): Extract<JobOutcome, { kind: 'failed' }> {
  const facts = { request: undefined, sentAt: undefined, endedAt: clock.now() };
  return { kind: 'failed', runId: undefined, facts, error, mayHaveRun: false };
}

/** Why a job has no run whose creation was never answered and made none. */
export function noRunFault(): CliError {
  return notFoundError('the creation was never answered, and the service has no run that fits');
}
