import { MAX_RETRY_AFTER_MS } from '../../net/retry-policy.ts';
import { isDiskFullError } from '../../utils/error-utils.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { formatWait } from './pluralize.ts';

/** An error of the command line, with its exit code and the next steps for the user. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly status: string;
  readonly exitCode: ExitCode;
  /** The next steps for the user, line by line. */
  readonly hints: readonly string[];
  /** The details of a service's error, line by line. */
  readonly details: readonly string[];
  readonly data: unknown;

  constructor(
    message: string,
    options: {
      status: string;
      exitCode: ExitCode;
      hints?: readonly string[];
      details?: readonly string[] | undefined;
      data?: unknown;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
    this.exitCode = options.exitCode;
    this.hints = options.hints ?? [];
    this.details = options.details ?? [];
    this.data = options.data ?? null;
  }
}

/** Returns the error for an invalid flag, argument or input. Exit 2. */
export function usageError(message: string, ...hints: string[]): CliError {
  return new CliError(message, { status: 'USAGE_ERROR', exitCode: EXIT.usage, hints });
}

/** An error in one case of a test file; its other cases run. Exit 2. */
export class CaseFault extends CliError {
  constructor(message: string, hints: readonly string[] = []) {
    super(message, { status: 'USAGE_ERROR', exitCode: EXIT.usage, hints });
  }

  /** Returns the same error with its place. */
  withPlace(place: string): CaseFault {
    return new CaseFault(`${place}: ${this.message}`, this.hints);
  }
}

/** Returns the error for a configuration that contradicts itself or can't be read. Exit 2. */
export function configError(message: string, ...hints: string[]): CliError {
  return new CliError(message, { status: 'CONFIG_ERROR', exitCode: EXIT.usage, hints });
}

/**
 * Returns the error for a file that could not be written. A full disk is not the user's mistake and
 * exits with 1.
 *
 * @param cause what the file system threw
 * @param fallback the error for any other cause; its message is used for a full disk, too
 * @param hint the remedy for a full disk
 */
export function unwritableError(
  cause: unknown,
  fallback: CliError,
  hint = 'Free some disk space.',
): CliError {
  if (!isDiskFullError(cause)) return fallback;
  return new CliError(fallback.message, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: [hint],
    cause,
  });
}

/** Returns the error for something missing on this machine. Exit 4. */
export function notFoundError(message: string, ...hints: string[]): CliError {
  return new CliError(message, { status: 'NOT_FOUND_ERROR', exitCode: EXIT.notFound, hints });
}

/**
 * The command was ended by Ctrl-C (130) or SIGTERM (143). Commands add hints on runs that continue.
 */
export class InterruptedError extends CliError {
  override readonly name = 'InterruptedError';
  /** The cause, such as Ctrl-C or SIGHUP. */
  readonly stopCause: string;

  constructor(
    readonly signal: 'SIGINT' | 'SIGTERM',
    hints: readonly string[] = [],
    options: {
      readonly message?: string;
      readonly data?: unknown;
      readonly stopCause?: string;
    } = {},
  ) {
    const word = signal === 'SIGINT' ? 'interrupted' : 'terminated';
    super(options.message === undefined ? word : `${word}; ${options.message}`, {
      status: 'INTERRUPTED',
      exitCode: signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated,
      hints,
      data: options.data,
    });
    this.stopCause = options.stopCause ?? (signal === 'SIGINT' ? 'Ctrl-C' : signal);
  }
}

/** The abort reason if no more runs may start. It ends only creations of which nothing was sent. */
export class NoMoreRunsError extends Error {
  override readonly name = 'NoMoreRunsError';
}

/**
 * Returns the cause that stopped a command, such as Ctrl-C or --timeout, from an abort reason;
 * undefined for other reasons.
 */
export function getStopCause(reason: unknown): string | undefined {
  return reason instanceof Error && 'stopCause' in reason && typeof reason.stopCause === 'string'
    ? reason.stopCause
    : undefined;
}

/** The user left a question with Ctrl-C or closed the terminal. Exit 130. */
export class QuestionCancelledError extends InterruptedError {
  constructor() {
    super('SIGINT', [], { message: 'a question was not answered' });
  }
}

/** The time limit of `--timeout` was reached. Exit 6. */
export class TimeLimitError extends CliError {
  override readonly name = 'TimeLimitError';
  /** The cause that stopped runs on this machine. */
  readonly stopCause = '--timeout';

  /** @param waitMs the wait that would last longer than the time left */
  constructor(waitMs?: number) {
    const wait = formatWait(Math.ceil((waitMs ?? 0) / 1000));
    const reason =
      waitMs === undefined
        ? 'the time of --timeout ran out'
        : `the next attempt is due in ${wait}, after the time of --timeout`;

    // A command never waits longer than MAX_RETRY_AFTER_MS, whatever --timeout allows.
    const exceedsLongestWait = waitMs !== undefined && waitMs > MAX_RETRY_AFTER_MS;
    super(`gave up: ${reason}`, {
      status: 'WAIT_TIMEOUT',
      exitCode: EXIT.waitTimeout,
      hints: [exceedsLongestWait ? `Try again in ${wait}.` : 'Allow more time with --timeout.'],
    });
  }
}

/**
 * Returns a `TimeLimitError` for an error that is one, or that asks for a wait longer than the time left;
 * undefined for any other error.
 */
export function toTimeLimitError(error: unknown, timeLeftMs: number): TimeLimitError | undefined {
  if (error instanceof TimeLimitError) return error;
  if (typeof error !== 'object' || error === null || !('retryAfterMs' in error)) return undefined;
  const { retryAfterMs } = error;
  return typeof retryAfterMs === 'number' && retryAfterMs > timeLeftMs
    ? new TimeLimitError(retryAfterMs)
    : undefined;
}

/** Returns the error for a wait that reached its limit. Exit 6. */
export function waitTimeoutError(
  message: string,
  options: { hints: readonly string[]; data?: unknown },
): CliError {
  return new CliError(message, { status: 'WAIT_TIMEOUT', exitCode: EXIT.waitTimeout, ...options });
}

/**
 * Returns the error of a stopped command with hints on how to resume it, which replace all that it
 * says about single runs: --resume finds those in the journal. Returns any other error unchanged.
 */
export function withResumeHint(error: unknown, furtherHints: readonly string[] = []): unknown {
  const hints = ['To continue, add --resume to the same command.', ...furtherHints];
  if (error instanceof InterruptedError) {
    return new InterruptedError(error.signal, hints, { stopCause: error.stopCause });
  }
  return error instanceof TimeLimitError ? waitTimeoutError(error.message, { hints }) : error;
}
