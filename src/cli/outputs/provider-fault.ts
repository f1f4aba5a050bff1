import type { EngineFault } from '../../models/engine.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT, type ExitCode, PROVIDER_FAULTS } from '../core/exit-codes.ts';
import { joinErrors } from './run-errors.ts';

/** A run of this command was refused by its provider or reached none, so that it cost nothing. */
export class ProviderRunError extends CliError {
  override readonly name = 'ProviderRunError';

  constructor(
    readonly kind: EngineFault,
    run: Run,
  ) {
    super(joinErrors(run), PROVIDER_FAULTS[kind]);
  }
}

/** Returns the provider's fault of a run; undefined if it ended in any other way. */
export function findProviderFault(
  { findFault }: Pick<Connection, 'findFault'>,
  run: Run,
): ProviderRunError | undefined {
  const kind = run.runStatus === 'failed' ? findFault(run.runId) : undefined;
  return kind && new ProviderRunError(kind, run);
}

/** Returns the exit code of the command that prints this run. */
export function getRunExitCode(
  { findFault }: Pick<Connection, 'findFault'>,
  { runId, runStatus }: Run,
): ExitCode {
  if (runStatus !== 'failed') return EXIT.ok;
  const kind = findFault(runId);
  return kind === undefined ? EXIT.runFailed : PROVIDER_FAULTS[kind].exitCode;
}
