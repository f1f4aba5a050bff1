import { failureOf } from '../core/failure.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { PlainIo } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { wantsJsonErrors } from './global-flags.ts';

/** Reports an error on standard error in the form the arguments ask for and returns its exit code. */
export function reportError(io: PlainIo, error: unknown, argv: readonly string[]): ExitCode {
  const failure = failureOf(error);
  reportFailure(io, failure, { json: wantsJsonErrors(argv), debug: argv.includes('--debug'), error });
  return failure.exitCode;
}
