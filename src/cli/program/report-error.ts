import { failureOf } from '../core/failure.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { PlainIo } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { wantsJsonErrors } from './global-flags.ts';

/** Tells an error on standard error in the form the arguments ask for and gives the exit code it means. */
export function reportError(io: PlainIo, error: unknown, argv: readonly string[]): ExitCode {
  const failure = failureOf(error);
  reportFailure(io, failure, { json: wantsJsonErrors(argv), debug: argv.includes('--debug'), error });
  return failure.exitCode;
}
