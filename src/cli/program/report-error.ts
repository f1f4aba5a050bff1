import type { Env } from '../../utils/env.ts';
import type { ExitCode } from '../core/exit-codes.ts';
import { toFailure } from '../core/failure.ts';
import { createPaint, detectColourLevel } from '../terminal/colour.ts';
import type { PlainIo, Sink } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { wantsJsonErrors } from './global-flags.ts';

/**
 * Reports an error on standard error in the form the arguments ask for and returns its exit code.
 */
export async function reportError(
  error: unknown,
  argv: readonly string[],
  to: {
    readonly io: PlainIo;
    readonly stderr: Sink;
    readonly env: Env;
  },
): Promise<ExitCode> {
  const { io, stderr, env } = to;
  const failure = toFailure(error);
  const paint = await createPaint(
    detectColourLevel(stderr, env, { isAllowed: !argv.includes('--no-color') }),
  );
  const debug = argv.some(word => /^--debug(=body)?$/u.test(word));
  reportFailure(io, failure, { json: wantsJsonErrors(argv), debug, error, paint });

  return failure.exitCode;
}
