import type { ExitCode } from './exit-codes.ts';
import { type Failure, failureOf } from './failure.ts';
import { wantsJsonErrors } from './globals.ts';
import type { PlainIo } from './io.ts';
import { oneLine, visible } from './outputs/sanitise.ts';

/** Tells an error on standard error in the form the arguments ask for and gives the exit code it means. */
export function tellError(io: PlainIo, error: unknown, argv: readonly string[]): ExitCode {
  const failure = failureOf(error);
  reportFailure(io, failure, { json: wantsJsonErrors(argv), debug: argv.includes('--debug'), error });
  return failure.exitCode;
}

/** Tells a failure: one line and its hints, or one line of JSON. */
export function reportFailure(
  io: Pick<PlainIo, 'error' | 'stderr'>,
  failure: Failure,
  options: { json: boolean; debug: boolean; error: unknown },
): void {
  const { status, message, data, exitCode, hints } = failure;
  if (options.json) {
    const line = JSON.stringify({ status, message: withWayBack(failure), data, exitCode });
    io.error(io.stderr.isTerminal ? visible(line) : line);
  } else {
    io.error(`error: ${oneLine(message)} (${oneLine(status)})`);
    for (const hint of hints) io.error(oneLine(hint));
  }
  if (options.debug) tellStack(io, options.error);
}

// How to get a run that goes on must be told in one line as well.
function withWayBack({ status, message, hints }: Failure): string {
  return ['INTERRUPTED', 'WAIT_TIMEOUT'].includes(status) ? [message, ...hints].join('. ') : message;
}

function tellStack(io: Pick<PlainIo, 'error'>, error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    io.error(`debug: ${visible(cause.stack ?? cause.message)}`);
  }
}
