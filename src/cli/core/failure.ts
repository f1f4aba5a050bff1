import {
  NetworkError,
  NotFoundError,
  PaymentRequiredError,
  PromptServiceError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from '../../client/errors.ts';
import { codeOf } from '../../files/error-utils.ts';
import { CliError } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';

/** An error as it is reported and as it ends the command. */
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
  if (!(error instanceof Error)) return failure('INTERNAL_ERROR', String(error), EXIT.fault);
  const known = SERVICE_ERRORS[codeOf(error) ?? ''];
  if (known !== undefined) return failure(known.status, error.message, known.exitCode);
  if (isFileFault(error)) return failure('FILE_ERROR', error.message, EXIT.fault);
  return failure('INTERNAL_ERROR', error.message, EXIT.fault, [
    'This is a fault of promptrun itself; --debug shows where.',
  ]);
}

/** Errors of the local service by their codes. */
const SERVICE_ERRORS: Readonly<Record<string, { status: string; exitCode: ExitCode } | undefined>> = {
  INVALID_PROMPT_FILE: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  INVALID_INPUTS: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  PAST_BOUND: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  INVALID_MODELS_FILE: { status: 'CONFIG_ERROR', exitCode: EXIT.usage },
  FILE_FAULT: { status: 'CONFIG_ERROR', exitCode: EXIT.usage },
  UNKNOWN_MODEL: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  UNKNOWN_PROMPT: { status: 'NOT_FOUND_ERROR', exitCode: EXIT.notFound },
  INVALID_KEY_REQUEST: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  UNUSABLE_STORE: { status: 'CONFIG_ERROR', exitCode: EXIT.usage },
  INVALID_DATABASE_URL: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  DATABASE_UNAVAILABLE: { status: 'NETWORK_ERROR', exitCode: EXIT.fault },
  CANNOT_LISTEN: { status: 'NETWORK_ERROR', exitCode: EXIT.fault },
};

function exitCodeOf(error: PromptServiceError): ExitCode {
  if (error instanceof ValidationError) return EXIT.usage;
  if (error instanceof UnauthorizedError || error instanceof PaymentRequiredError) return EXIT.unauthorised;
  if (error instanceof NotFoundError) return EXIT.notFound;
  if (error instanceof RateLimitError) return EXIT.rateLimited;
  // An error envelope is a failure whatever HTTP status it came with.
  if (error instanceof ServiceError) return exitCodeOfHttp(error.httpStatus) || EXIT.fault;
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
  const seconds = Math.ceil((retryAfterMs ?? 0) / 1000);
  if (seconds === 0) return 'Try again later.';
  return `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
}

function failure(
  status: string,
  message: string,
  exitCode: ExitCode,
  hints: readonly string[] = [],
): Failure {
  return { status, message, exitCode, hints, data: null };
}

function isFileFault(error: Error): boolean {
  return 'syscall' in error && 'code' in error;
}
