import {
  NetworkError,
  NotFoundError,
  PaymentRequiredError,
  PromptServiceError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from '../client/errors.ts';
import { CliError } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** An error as it is told and as it ends the command. */
export interface Failure {
  readonly status: string;
  readonly message: string;
  readonly data: unknown;
  readonly exitCode: ExitCode;
  /** What to do next. */
  readonly hints: readonly string[];
}

/** The one place where errors become exit codes. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CliError) return error;
  if (error instanceof PromptServiceError) {
    const { status, message, data } = error;
    return { status, message, data, exitCode: exitCodeOf(error), hints: hintsFor(error) };
  }
  if (isInvalidPromptFile(error)) return told('USAGE_ERROR', error.message, EXIT.usage);
  if (isFileFault(error)) return told('FILE_ERROR', error.message, EXIT.fault);
  return told('INTERNAL_ERROR', error instanceof Error ? error.message : String(error), EXIT.fault, [
    'This is a fault of promptrun itself; --debug shows where.',
  ]);
}

function exitCodeOf(error: PromptServiceError): ExitCode {
  if (error instanceof ValidationError) return EXIT.usage;
  if (error instanceof UnauthorizedError || error instanceof PaymentRequiredError) return EXIT.unauthorised;
  if (error instanceof NotFoundError) return EXIT.notFound;
  if (error instanceof RateLimitError) return EXIT.rateLimited;
  if (error instanceof ServiceError) return exitCodeOfHttp(error.httpStatus);
  if (error.status === 'USAGE_ERROR') return EXIT.usage;
  return error.status === 'WAIT_TIMEOUT' ? EXIT.waitTimeout : EXIT.fault;
}

/** Statuses that have no error class of their own; also what `api` ends with. */
export function exitCodeOfHttp(httpStatus: number): ExitCode {
  if (httpStatus < 400) return EXIT.ok;
  if ([400, 413, 422, 431].includes(httpStatus)) return EXIT.usage;
  if ([401, 402, 403].includes(httpStatus)) return EXIT.unauthorised;
  if ([404, 410].includes(httpStatus)) return EXIT.notFound;
  return httpStatus === 429 ? EXIT.rateLimited : EXIT.fault;
}

function hintsFor(error: PromptServiceError): string[] {
  if (error instanceof UnauthorizedError)
    return ['The key was refused. `promptrun login` stores another one.'];
  if (error instanceof PaymentRequiredError) return ['`promptrun account` shows the credits that are left.'];
  if (error instanceof RateLimitError) return [whenToTryAgain(error)];
  if (error instanceof NetworkError) return ['`promptrun doctor` checks address, connection and key.'];
  return [];
}

function whenToTryAgain({ retryAfterMs }: RateLimitError): string {
  return retryAfterMs === undefined
    ? 'Try again later.'
    : `Try again in ${Math.ceil(retryAfterMs / 1000)} seconds.`;
}

function told(status: string, message: string, exitCode: ExitCode, hints: readonly string[] = []): Failure {
  return { status, message, exitCode, hints, data: null };
}

/** Thrown by the local service, whose classes the command line does not know. */
function isInvalidPromptFile(error: unknown): error is Error {
  return error instanceof Error && error.name === 'InvalidPromptFile';
}

function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
