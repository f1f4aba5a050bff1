import {
  NetworkError,
  PaymentRequiredError,
  PromptServiceError,
  RateLimitError,
  UnauthorizedError,
} from '../../client/errors.ts';
import { MAX_RETRY_AFTER_MS } from '../../net/retry-policy.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { CliError, notFoundError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toFailure } from '../core/failure.ts';
import { ProviderRunError } from '../outputs/provider-fault.ts';

/**
 * Returns true for a fault of this machine or of promptrun itself, which every further job would
 * meet too.
 */
export function isFatal(error: unknown): boolean {
  if (error instanceof CliError) {
    return error.status === 'FILE_ERROR' || error.status === 'CONFIG_ERROR';
  }
  return !(error instanceof PromptServiceError);
}

/** Returns the run whose wait ended in this error, if the error names it. */
export function findErrorRunId(error: unknown): string | undefined {
  const runId =
    error instanceof CliError && isJsonObject(error.data) ? error.data['runId'] : undefined;
  return typeof runId === 'string' ? runId : undefined;
}

/** Returns true if a cap refused the creation. */
export function isCapReached(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.capReached;
}

/** Returns true if the service asks for a pause longer than the client waits. */
function isLongPause(error: unknown): boolean {
  return error instanceof RateLimitError && (error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS;
}

/** Returns true if the creation made no run and may be sent again now. */
export function maySendAgain(error: unknown): boolean {
  return error instanceof RateLimitError
    ? !isLongPause(error)
    : error instanceof NetworkError && error.nothingSent;
}

/**
 * Returns true for a refusal of the key, the account or its quota, which every further job would
 * meet too.
 */
export function refusesEveryJob(error: unknown): boolean {
  if (error instanceof ProviderRunError) {
    return error.kind === 'unauthorised' || error.kind === 'quota';
  }
  return (
    error instanceof UnauthorizedError ||
    error instanceof PaymentRequiredError ||
    isLongPause(error)
  );
}

/** Returns true if no part of the creation was sent to a service, or to the provider behind it. */
export function wasNeverSent(error: unknown): boolean {
  if (error instanceof ProviderRunError) return error.kind === 'unreachable';
  return error instanceof NetworkError && error.nothingSent;
}

/**
 * Returns an error's text for the results. It begins with the line of its row, if that is given and
 * promptrun itself found the error.
 */
export function formatError(error: unknown, row?: { readonly line: number }): string {
  const { message, status } = toFailure(error);
  const prefix = row !== undefined && error instanceof CliError ? `line ${row.line}: ` : '';
  return `${prefix}${message} (${status})`;
}

/** Matches a text of `formatError`, such as `the image is missing (USAGE_ERROR)`. */
const ERROR_TEXT = /^(?<message>.*) \((?<status>[A-Z_]+)\)$/su;

/**
 * Returns the error that `formatError` wrote to a journal. Its exit code says only whether the row
 * itself is invalid.
 */
export function parseError(text: string): CliError {
  const { message, status } = ERROR_TEXT.exec(text)?.groups ?? {};
  if (message === undefined || status === undefined) {
    return new CliError(text, { status: 'RUN_FAILED', exitCode: EXIT.runFailed });
  }
  return new CliError(message, {
    status,
    exitCode: status === 'USAGE_ERROR' ? EXIT.usage : EXIT.fault,
  });
}

/** Returns the error of a job whose creation was never answered and made no run. */
export function noRunError(): CliError {
  return notFoundError('the creation was never answered, and the service has no matching run');
}
