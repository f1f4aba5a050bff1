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
  { io, stderr, env }: { readonly io: PlainIo; readonly stderr: Sink; readonly env: Env },
): Promise<ExitCode> {
  const failure = toFailure(error);
  const isColourAllowed = !argv.includes('--no-color');
  const paint = await createPaint(detectColourLevel(stderr, env, { isAllowed: isColourAllowed }));
  const debug = argv.some(word => /^--debug(=body)?$/u.test(word));
  reportFailure(io, failure, { json: wantsJsonErrors(argv), debug, error, paint });

  return failure.exitCode;
}
