import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { CliError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import type { SaveFailure } from './save-outputs.ts';

/**
 * Throws if a link was in the way of a file to save, after the results were printed.
 *
 * @throws {CliError} exit 2
 */
export function throwIfLinked(run: Run, failures: readonly SaveFailure[]): void {
  const linkFailure = failures.find(({ link }) => link !== undefined);
  if (linkFailure === undefined) return;

  throw new CliError(formatFailure(linkFailure), {
    status: 'USAGE_ERROR',
    exitCode: EXIT.usage,
    hints: ['Remove the link, or save to another folder.'],
    data: { runId: run.runId, notSaved: failures },
  });
}

/** Reports failed downloads of a run that failed too; the run's failure decides the exit code. */
export function noteFailures({ io }: Context, failures: readonly SaveFailure[]): void {
  for (const failure of failures) io.note(escapeControls(`note: ${formatFailure(failure)}`));
}

/**
 * Throws if an output of a good run was not saved, after the results were printed.
 *
 * @throws {CliError} exit 1
 */
export function throwIfNotSaved(
  { formatCommand }: Connection,
  run: Run,
  failures: readonly SaveFailure[],
): void {
  const [first, ...otherFailures] = failures.map(formatFailure);
  if (first === undefined) return;

  const isLost = failures.every(({ isGone }) => isGone === true);
  const retryHint = `Try again with: ${formatCommand('runs', 'save', run.runId)}`;
  throw new CliError(first, {
    status: getFailureStatus(failures),
    exitCode: EXIT.fault,
    hints: isLost ? otherFailures : [...otherFailures, retryHint],
    data: { runId: run.runId, notSaved: failures },
  });
}

/** Returns the status of an error: FILE_ERROR if only this machine is at fault. */
export function getFailureStatus(failures: readonly SaveFailure[]): string {
  const isLocal = failures.every(
    ({ output, isOnDisk = false, link }) => output === 0 || isOnDisk || link !== undefined,
  );
  return isLocal ? 'FILE_ERROR' : 'NETWORK_ERROR';
}

function formatFailure({ output, message }: SaveFailure): string {
  return output === 0 ? message : `output ${output} was not saved: ${message}`;
}
