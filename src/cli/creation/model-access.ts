import type { Connection } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';

/**
 * Refuses a version whose model can't be asked from this machine, before any run of it is created.
 *
 * @throws {CliError} exit 3 for a missing key, exit 2 for one that can't be used
 */
export async function checkModelAccess({ costs }: Connection, promptVersionId: string): Promise<void> {
  const fault = await costs?.accessFault(promptVersionId);
  if (fault === undefined) return;
  if (fault.kind !== 'key') throw usageError(fault.message);
  throw new CliError(fault.message, {
    status: 'FORBIDDEN_ERROR',
    exitCode: EXIT.unauthorised,
    hints: ['Nothing was sent. `promptrun models providers` shows which keys are set.'],
  });
}
