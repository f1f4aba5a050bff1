import { textOrNothing } from '../../files/json-fields.ts';
import type { EngineFault } from '../../models/engine.ts';
import { listAt } from '../../wire/bounded-json.ts';
import { RERUN_ADVICE } from '../../wire/error-words.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError } from '../errors.ts';
import { EXIT, type ExitCode, PROVIDER_FAULTS } from '../exit-codes.ts';

/** A run of this command was refused by its provider or reached none, so that it cost nothing. */
export class ProviderRunError extends CliError {
  override readonly name = 'ProviderFault';

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
export function exitCodeOfRun(
  { findFault }: Pick<Connection, 'findFault'>,
  { runId, runStatus }: Run,
): ExitCode {
  if (runStatus !== 'failed') return EXIT.ok;
  const kind = findFault(runId);
  return kind === undefined ? EXIT.runFailed : PROVIDER_FAULTS[kind].exitCode;
}

/** Returns the data of an `error` item as text; says so if it has no reason. */
export function reasonText(data: unknown): string {
  return data === null ? 'null (the service gave no reason)' : textOrNothing(data);
}

/** Returns the text of each error item of a run. */
export function errorTexts({ outputs }: Run): string[] {
  return outputs.filter(({ type }) => type === 'error').map(({ data }) => reasonText(data));
}

/** Joins the error items of a failed run. */
export function joinErrors(run: Run): string {
  return errorTexts(run).join('; ') || 'the run failed';
}

/** Joins the errors of a failed run without their advice to run it alone, for commands that run it again in their own way. */
export function providerReasons(run: Run): string {
  return withoutRerunAdvice(joinErrors(run));
}

/** Returns the error of a run without its advice to run it alone. */
export function withoutRerunAdvice(error: string): string {
  const [reasons = ''] = error.split(RERUN_ADVICE);
  return reasons;
}

/** Returns true if a run failed because its command was stopped: it advises to run it again. */
export function wasStopped(run: Run): boolean {
  return run.runStatus === 'failed' && joinErrors(run).includes(RERUN_ADVICE);
}

/** Maximum number of warnings to show for a run. */
const MAX_WARNINGS = 50;

/** Returns the warnings of a run: the options left out of its request to the model, one sentence each. */
export function listWarnings({ warnings }: Run): string[] {
  return listAt(warnings)
    .filter(warning => typeof warning === 'string')
    .slice(0, MAX_WARNINGS);
}
