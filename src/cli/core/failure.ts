import {
  NetworkError,
  NotFoundError,
  PaymentRequiredError,
  PromptServiceError,
  ProtocolError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from '../../client/errors.ts';
import { getErrorCode, isDiskFullError } from '../../utils/error-utils.ts';
import { CliError } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { formatWait } from './pluralize.ts';

/** An error in the form in which it is reported, with its exit code. */
export interface Failure {
  readonly status: string;
  readonly message: string;
  readonly data: unknown;
  readonly exitCode: ExitCode;
  /** Hints on what to do next. */
  readonly hints: readonly string[];
  /** The lines of the service's `data`. */
  readonly details?: readonly string[];
}

/**
 * Formats a command line for a hint, with the flags that choose the same service, so that it works
 * as printed.
 *
 * @param words the words after `promptrun`; each is quoted if a shell needs it
 */
export type FormatCommand = (...words: readonly string[]) => string;

/** The context of a service error that hints depend on: the client's `errorContext`. */
export interface ErrorContext {
  readonly formatCommand: FormatCommand;
  /** The source of the key; see `Connection.keySource`. */
  readonly keySource?: string | undefined;
  readonly profile?: string | undefined;
}

const DEFAULT_ERROR_CONTEXT: ErrorContext = {
  formatCommand: (...words) => ['promptrun', ...words].join(' '),
};

/** Maximum number of lines of a service's `data`. */
const MAX_DETAIL_LINES = 10;

/** Maximum length of a line of `data`, in characters. */
const MAX_DETAIL_LENGTH = 1000;

interface CodedError {
  readonly status: string;
  readonly exitCode: ExitCode;
  readonly hint?: string;
}

/** Errors of files and of the local service by code. */
const CODED_ERRORS: Readonly<Record<string, CodedError | undefined>> = {
  INVALID_REQUEST: { status: 'VALIDATION_ERROR', exitCode: EXIT.usage },
  NOT_FOUND: { status: 'NOT_FOUND_ERROR', exitCode: EXIT.notFound },
  NO_ACCESS: { status: 'FORBIDDEN_ERROR', exitCode: EXIT.unauthorised },
  UNAVAILABLE: { status: 'SERVICE_UNAVAILABLE_ERROR', exitCode: EXIT.fault },
  INVALID_PROMPT_FILE: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  INVALID_INPUTS: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  PAST_BOUND: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  INVALID_MODELS_FILE: { status: 'CONFIG_ERROR', exitCode: EXIT.usage },
  PATH_FAULT: {
    status: 'USAGE_ERROR',
    exitCode: EXIT.usage,
    hint: 'Remove it, or name another place.',
  },
  DEVICE_NAME: { status: 'USAGE_ERROR', exitCode: EXIT.usage, hint: 'Choose another name.' },
  FILE_FAULT: { status: 'CONFIG_ERROR', exitCode: EXIT.usage },
  UNKNOWN_MODEL: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  UNKNOWN_PROMPT: { status: 'NOT_FOUND_ERROR', exitCode: EXIT.notFound },
  INVALID_KEY_REQUEST: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  DISK_FULL: { status: 'FILE_ERROR', exitCode: EXIT.fault },
  UNUSABLE_STORE: { status: 'CONFIG_ERROR', exitCode: EXIT.usage },
  INVALID_DATABASE_URL: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  INVALID_MEDIA_URL: { status: 'USAGE_ERROR', exitCode: EXIT.usage },
  DATABASE_UNAVAILABLE: { status: 'NETWORK_ERROR', exitCode: EXIT.fault },
  MEDIA_UNAVAILABLE: { status: 'NETWORK_ERROR', exitCode: EXIT.fault },
  CANNOT_LISTEN: { status: 'NETWORK_ERROR', exitCode: EXIT.fault },
};

/** Returns the failure of an error. The only place where errors become exit codes. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CliError) {
    // A plain object, because spreading an Error omits its message.
    const { status, message, data, exitCode, hints, details } = error;
    return { status, message, data, exitCode, hints, details };
  }

  if (error instanceof PromptServiceError) return toClientFailure(error);
  if (!(error instanceof Error)) {
    return buildFailure({
      status: 'INTERNAL_ERROR',
      message: String(error),
      exitCode: EXIT.fault,
    });
  }

  const codedError = CODED_ERRORS[getErrorCode(error) ?? ''];
  if (codedError === undefined) return toSystemFailure(error);

  const { status, exitCode, hint } = codedError;
  const hints = hint === undefined ? [] : [hint];
  return buildFailure({ status, message: error.message, exitCode, hints });
}

function toClientFailure(error: PromptServiceError): Failure {
  const { status, message, data, context = DEFAULT_ERROR_CONTEXT } = error;
  const hints = listClientErrorHints(error, context as ErrorContext);
  const details = error instanceof ServiceError ? formatDetails(error) : [];
  return { status, message, data, exitCode: getClientErrorExitCode(error), hints, details };
}

/** Returns the failure of an error of Node, or of a bug. */
function toSystemFailure(error: Error): Failure {
  if (isCwdFault(error)) {
    return buildFailure({
      status: 'FILE_ERROR',
      message: 'the working directory no longer exists',
      exitCode: EXIT.usage,
      hints: ['Change to another one.'],
    });
  }

  const { message } = error;
  if (isFileFault(error)) {
    const hints = isDiskFullError(error) ? ['Free some disk space.'] : [];
    return buildFailure({ status: 'FILE_ERROR', message, exitCode: EXIT.fault, hints });
  }
  return buildFailure({
    status: 'INTERNAL_ERROR',
    message,
    exitCode: EXIT.fault,
    hints: ['This is a bug in promptrun; --debug shows where.'],
  });
}

/** Converts any error to a CliError. */
export function toCliError(error: unknown): CliError {
  const { message, ...failure } = toFailure(error);
  return error instanceof CliError ? error : new CliError(message, { ...failure, cause: error });
}

/**
 * Converts any error to a CliError whose message begins with its place, such as a row or a case.
 */
export function toPlacedError(place: string, error: unknown): CliError {
  const { message, ...failure } = toFailure(error);
  return new CliError(`${place}: ${message}`, { ...failure, cause: error });
}

function getClientErrorExitCode(error: PromptServiceError): ExitCode {
  if (error instanceof ValidationError) return EXIT.usage;

  if (error instanceof UnauthorizedError || error instanceof PaymentRequiredError) {
    return EXIT.unauthorised;
  }

  if (error instanceof NotFoundError) return EXIT.notFound;
  if (error instanceof RateLimitError) return EXIT.rateLimited;

  // An error envelope is a failure, whatever its HTTP status.
  if (error instanceof ServiceError) {
    return error.httpStatus < 400 ? EXIT.fault : getHttpExitCode(error.httpStatus);
  }

  if (error.status === 'USAGE_ERROR') return EXIT.usage;

  return error.status === 'WAIT_TIMEOUT' ? EXIT.waitTimeout : EXIT.fault;
}

/** Returns the exit code of an HTTP status without an error class; also used by `api`. */
export function getHttpExitCode(httpStatus: number): ExitCode {
  if (httpStatus < 400) return EXIT.ok;
  if ([400, 413, 422, 431].includes(httpStatus)) return EXIT.usage;
  if ([401, 402, 403].includes(httpStatus)) return EXIT.unauthorised;
  if ([404, 410].includes(httpStatus)) return EXIT.notFound;
  if (httpStatus === 429) return EXIT.rateLimited;
  return httpStatus < 500 ? EXIT.usage : EXIT.fault;
}

function listClientErrorHints(error: PromptServiceError, context: ErrorContext): string[] {
  const { formatCommand } = context;

  // The embedded service needs no key; a missing provider's key is named in the message.
  if (error.httpStatus === 403 && context.keySource === undefined) return [];
  if (error instanceof UnauthorizedError) return [formatKeyHint(error, context)];

  if (error instanceof PaymentRequiredError) {
    return [
      `See the credits with: ${formatCommand('account')}`,
      'If the plan has lapsed, every request is refused: renew it.',
    ];
  }

  if (error instanceof RateLimitError) return [formatRetryHint(error)];

  if (error instanceof NetworkError) {
    return [`Check address, connection and key with: ${formatCommand('doctor')}`];
  }

  if (error instanceof ProtocolError && error.httpStatus === 413) {
    return ['Send smaller images, or their https URLs with --image https://…, or shorter texts.'];
  }

  return [];
}

/** Returns the hint that fits the source of the key. */
function formatKeyHint(
  { httpStatus, cause }: UnauthorizedError,
  { formatCommand, keySource, profile }: ErrorContext,
): string {
  if (httpStatus === 403) {
    return cause instanceof ProtocolError
      ? 'The answer is not from the service itself: a proxy or a gateway on the way may have refused the request.'
      : 'The key is valid, but may not do this.';
  }

  if (keySource === 'PROMPTRUN_API_KEY') {
    return 'The key in PROMPTRUN_API_KEY was refused: set it to another one, or unset it to use a stored key.';
  }

  const login =
    profile === undefined ? formatCommand('login') : `promptrun login --profile ${profile}`;
  const keyName = keySource === undefined ? 'The key' : `The key of ${keySource}`;
  return `${keyName} was refused. Store another one with: ${login}`;
}

function formatDetails({ data }: ServiceError): string[] {
  if (data === null || data === undefined) return [];
  const lines = (typeof data === 'string' ? data : JSON.stringify(data, undefined, 2)).split('\n');
  const shownLines =
    lines.length <= MAX_DETAIL_LINES ? lines : [...lines.slice(0, MAX_DETAIL_LINES - 1), '…'];
  return shownLines.map(line =>
    line.length <= MAX_DETAIL_LENGTH ? line : `${line.slice(0, MAX_DETAIL_LENGTH)}…`,
  );
}

function formatRetryHint({ retryAfterMs }: RateLimitError): string {
  const seconds = Math.ceil((retryAfterMs ?? 0) / 1000);
  return seconds === 0 ? 'Try again later.' : `Try again in ${formatWait(seconds)}.`;
}

type FailureParts = Pick<Failure, 'status' | 'message' | 'exitCode'> & Partial<Failure>;

function buildFailure(parts: FailureParts): Failure {
  return { hints: [], data: null, ...parts };
}

/** Returns true for the error of a working directory that was removed. */
function isCwdFault(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'uv_cwd';
}

function isFileFault(error: Error): boolean {
  return 'syscall' in error && 'code' in error;
}
