import { ValidationError } from '../../../client/errors.ts';
import type { Connection } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';

/** What the service has refused, with where to see what the target takes. Loaded once a run was refused. */
export function withWayToInputs(error: unknown, { advise }: Connection, target: string | undefined): unknown {
  if (!(error instanceof ValidationError) || target === undefined) return error;
  const { status, message, data } = error;
  const hints = [`What it takes: ${advise('prompts', 'get', target)}`];
  return new CliError(message, { status, exitCode: EXIT.usage, hints, data, cause: error });
}
