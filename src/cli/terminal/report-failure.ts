import type { ChalkInstance } from 'chalk';
import { QuestionCancelledError } from '../core/errors.ts';
import type { Failure } from '../core/failure.ts';
import type { PlainIo } from './io.ts';
import { escapeControls, toOneLine } from './sanitise.ts';

/** Reports a failure: one line and its hints, or one line of JSON. */
export function reportFailure(
  io: Pick<PlainIo, 'error' | 'stderr'>,
  failure: Failure,
  options: { json: boolean; debug: boolean; error: unknown; paint: ChalkInstance },
): void {
  const { status, message, data, exitCode, hints, details = [] } = failure;
  if (options.json) {
    const line = JSON.stringify({ status, message: formatJsonMessage(failure), data, exitCode });
    io.error(io.stderr.isTerminal ? escapeControls(line) : line);
  } else if (options.error instanceof QuestionCancelledError) {
    io.error('Cancelled.');
  } else {
    io.error(`${options.paint.red('error:')} ${toOneLine(message)} (${toOneLine(status)})`);
    for (const line of details) io.error(`  ${toOneLine(line)}`);
    for (const hint of hints) io.error(toOneLine(hint));
  }
  if (options.debug) reportStack(io, options.error);
}

/** The errors that are not the service's. A service's message is not changed. */
const OWN_STATUSES = new Set([
  'USAGE_ERROR',
  'CONFIG_ERROR',
  'NETWORK_ERROR',
  'PROTOCOL_ERROR',
  'FILE_ERROR',
  'WAIT_TIMEOUT',
  'CAP_REACHED',
  'INTERNAL_ERROR',
  'INTERRUPTED',
]);

/** Returns the message with the next step, because JSON has no lines for hints. */
function formatJsonMessage({ status, message, data, hints }: Failure): string {
  const isInDoubt = typeof data === 'object' && data !== null && 'candidates' in data;
  if (!OWN_STATUSES.has(status) && !isInDoubt) return message;
  const sentences = [message, ...hints].map(line => line.replace(/\.$/u, ''));
  return sentences.reduce((text, next) => text + (/[?!:]$/u.test(text) ? ' ' : '. ') + next);
}

function reportStack(io: Pick<PlainIo, 'error'>, error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    io.error(`debug: ${escapeControls(cause.stack ?? cause.message)}`);
  }
}
