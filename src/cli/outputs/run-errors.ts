import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import { readListAt } from '../../utils/bounded-json.ts';
import { RERUN_ADVICE } from '../../wire/error-words.ts';
import type { Run } from '../../wire/index.ts';

/** Returns the data of an `error` item as text; says so if it has no reason. */
export function formatReason(data: unknown): string {
  return data === null ? 'null (the service gave no reason)' : toTextOrEmpty(data);
}

export function listErrorTexts({ outputs }: Run): string[] {
  return outputs.filter(({ type }) => type === 'error').map(({ data }) => formatReason(data));
}

/** Joins the error items of a failed run. */
export function joinErrors(run: Run): string {
  return listErrorTexts(run).join('; ') || 'the run failed';
}

/**
 * Joins the errors of a failed run without their advice to run it alone, for commands that run it
 * again in their own way.
 */
export function joinProviderReasons(run: Run): string {
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

/**
 * Returns the warnings of a run: the options left out of its request to the model, one sentence
 * each.
 */
export function listWarnings({ warnings }: Run): string[] {
  return readListAt(warnings)
    .filter(warning => typeof warning === 'string')
    .slice(0, MAX_WARNINGS);
}
