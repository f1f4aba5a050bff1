import type { Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import type { RecalledJobs } from './recall-jobs.ts';

/**
 * Warns how many runs `--retry-unknown` creates although an earlier creation may have been paid
 * for.
 */
export function reportSecondPayments({ io }: Pick<Context, 'io'>, count: number): void {
  if (count > 0) io.note(`note: --retry-unknown: ${pluralize(count, 'run')} may be paid for twice`);
}

/**
 * Returns the step of an earlier creation that may have made a run without a known id, or undefined
 * if there is none.
 */
export function findUnknownRunStep(
  { states, settlements }: RecalledJobs,
  id: string,
): 'creating' | 'failed' | undefined {
  const { step, entry, mayHaveRun } = states.get(id) ?? {};
  if (step !== 'creating') return mayHaveRun === true ? 'failed' : undefined;
  return entry !== undefined && settlements.get(id)?.kind !== 'none' ? 'creating' : undefined;
}
