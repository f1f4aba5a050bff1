import {
  NetworkError,
  NotFoundError,
  PromptServiceError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
} from '../../../client/errors.ts';
import { failureOf } from '../../core/failure.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';

/** What a job's error means for the job. */
export type Verdict =
  /** It has no run, or one that is gone. */
  | 'failed'
  /** The service answered with a fault of its own, and may have made a run all the same. */
  | 'failed, maybe with a run'
  /** It may have a run that nobody knows. */
  | 'in doubt'
  /** Its run goes on, or can't be asked for at present. */
  | 'going on'
  /** It has no run, and would have one if there was no fault of everything. */
  | 'put off'
  /** No job can go on. */
  | 'fatal';

/** What the error a job ended with means for it. @param runId its run, where one is known */
export function verdictOn(error: unknown, runId: string | undefined): Verdict {
  if (error instanceof CreationInDoubt) {
    return 'in doubt';
  }
  if (isFatal(error)) {
    return 'fatal';
  }
  if (runId !== undefined) {
    return error instanceof NotFoundError ? 'failed' : 'going on';
  }
  if (error instanceof UnauthorizedError || isLongPause(error)) {
    return 'put off';
  }
  if (error instanceof CliError && error.exitCode === EXIT.waitTimeout) {
    return wasStarted(error) ? 'in doubt' : 'failed';
  }
  return error instanceof ServiceError && error.httpStatus >= 500 ? 'failed, maybe with a run' : 'failed';
}

/** Whether a creation was given up, by time or by a signal, after some of it had been sent. */
export function wasStarted(error: unknown): boolean {
  const data = error instanceof CliError ? error.data : undefined;
  return !(typeof data === 'object' && data !== null && 'started' in data && data.started === false);
}

/** A fault of this machine, or of promptrun itself: the next job would meet it as well. */
function isFatal(error: unknown): boolean {
  if (error instanceof CliError) {
    return error.status === 'FILE_ERROR' || error.status === 'CONFIG_ERROR';
  }
  return !(error instanceof PromptServiceError);
}

/** The run a wait was given up for, where the error names it. */
export function runIdOf(error: unknown): string | undefined {
  const data = error instanceof CliError ? error.data : undefined;
  const runId = typeof data === 'object' && data !== null && 'runId' in data ? data.runId : undefined;
  return typeof runId === 'string' ? runId : undefined;
}

/** Longest wait that a service's 429 is waited for, as in `run`. */
const LONGEST_PAUSE_MS = 60_000;

/** The service asks to come back much later. */
export function isLongPause(error: unknown): boolean {
  return error instanceof RateLimitError && (error.retryAfterMs ?? 0) > LONGEST_PAUSE_MS;
}

/** Whether the creation made no run and may be sent again now. */
export function maySendAgain(error: unknown): boolean {
  return error instanceof RateLimitError
    ? !isLongPause(error)
    : error instanceof NetworkError && error.nothingSent;
}

/** Whether the fault lies outside of the job, so that others are likely to meet it as well. */
export function isEverybodys(error: unknown): boolean {
  if (error instanceof ServiceError) {
    return ![400, 413, 422].includes(error.httpStatus);
  }
  return error instanceof PromptServiceError || error instanceof CreationInDoubt;
}

/** The error as the results tell it; with the row's line where it was found before anything was sent. */
export function errorText(error: unknown, place?: { readonly line: number }): string {
  const { message, status } = failureOf(error);
  const where = place !== undefined && error instanceof CliError ? `line ${place.line}: ` : '';
  return `${where}${message} (${status})`;
}
