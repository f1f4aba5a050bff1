import { EXIT, type ExitCode } from './exit-codes.ts';

/** A fault the command line found by itself, with its exit code and what to do next. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly status: string;
  readonly exitCode: ExitCode;
  /** A few lines on what to do next. */
  readonly hints: readonly string[];
  /** What a service said besides its message, line by line. */
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

/** Wrong use: a flag, an argument or an input. Exit 2. */
export function usageError(message: string, ...hints: string[]): CliError {
  return new CliError(message, { status: 'USAGE_ERROR', exitCode: EXIT.usage, hints });
}

/** Wrong use in one case of a test file; its other cases run. Exit 2. */
export class CaseFault extends CliError {
  constructor(message: string, hints: readonly string[] = []) {
    super(message, { status: 'USAGE_ERROR', exitCode: EXIT.usage, hints });
  }

  /** The same fault with its place. */
  at(place: string): CaseFault {
    return new CaseFault(`${place}: ${this.message}`, this.hints);
  }
}

/** Configuration that contradicts itself or can't be read. Exit 2. */
export function configError(message: string, ...hints: string[]): CliError {
  return new CliError(message, { status: 'CONFIG_ERROR', exitCode: EXIT.usage, hints });
}

/** Something that is kept on this machine is not there. Exit 4. */
export function notFoundError(message: string, ...hints: string[]): CliError {
  return new CliError(message, { status: 'NOT_FOUND_ERROR', exitCode: EXIT.notFound, hints });
}

/** Ended by Ctrl-C (130) or SIGTERM (143). Commands add hints on what goes on and how to get it. */
export class Interrupted extends CliError {
  override readonly name = 'Interrupted';
  /** What the user or the system did, such as Ctrl-C or SIGHUP. */
  readonly by: string;

  constructor(
    readonly signal: 'SIGINT' | 'SIGTERM',
    hints: readonly string[] = [],
    more: { readonly message?: string; readonly data?: unknown; readonly by?: string } = {},
  ) {
    const word = signal === 'SIGINT' ? 'interrupted' : 'terminated';
    super(more.message === undefined ? word : `${word}; ${more.message}`, {
      status: 'INTERRUPTED',
      exitCode: signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated,
      hints,
      data: more.data,
    });
    this.by = more.by ?? (signal === 'SIGINT' ? 'Ctrl-C' : signal);
  }
}

/** What stops a command, such as Ctrl-C or --timeout, by the reason of an aborted signal; undefined for any other. */
export function stopperOf(reason: unknown): string | undefined {
  return reason instanceof Error && 'by' in reason && typeof reason.by === 'string' ? reason.by : undefined;
}

/** A question was left with Ctrl-C, or its terminal went away: the user's wish, not an error. Exit 130. */
export class QuestionLeft extends Interrupted {
  constructor() {
    super('SIGINT', [], { message: 'a question was left without an answer' });
  }
}

/** The time that `--timeout` gives the whole command was over. Exit 6. */
export class TimeIsUp extends CliError {
  override readonly name = 'TimeIsUp';
  /** What stops runs on this machine. */
  readonly by = '--timeout';

  constructor() {
    super('gave up: the time of --timeout was over', {
      status: 'WAIT_TIMEOUT',
      exitCode: EXIT.waitTimeout,
      hints: ['Allow more time with --timeout.'],
    });
  }
}

/** The waiting time was over. Exit 6. */
export function waitTimeout(
  message: string,
  options: { hints: readonly string[]; data?: unknown },
): CliError {
  return new CliError(message, { status: 'WAIT_TIMEOUT', exitCode: EXIT.waitTimeout, ...options });
}

/** What to say once tests were stopped: what had ended is kept. Any other error is given back. */
export function resumable(error: unknown): unknown {
  const hints = ['Go on with the same command and --resume.'];
  if (error instanceof Interrupted) return new Interrupted(error.signal, hints, { by: error.by });
  return error instanceof TimeIsUp ? waitTimeout(error.message, { hints }) : error;
}
