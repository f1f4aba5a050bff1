import type { Failure } from './failure.ts';
import type { PlainIo } from './io.ts';
import { oneLine, visible } from './outputs/sanitise.ts';

/** Tells a failure on standard error: one line and its hints, or one line of JSON. */
export function reportFailure(
  io: PlainIo,
  failure: Failure,
  options: { json: boolean; debug: boolean; error: unknown },
): void {
  const { status, message, data, exitCode, hints } = failure;
  if (options.json) io.error(JSON.stringify({ status, message, data, exitCode }));
  else {
    io.error(`error: ${oneLine(message)} (${oneLine(status)})`);
    for (const hint of hints) io.error(visible(hint));
  }
  if (options.debug) tellStack(io, options.error);
}

function tellStack(io: PlainIo, error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    io.error(`debug: ${visible(cause.stack ?? cause.message)}`);
  }
}
