import type { Context } from '../context.ts';
import { counted } from '../core/counted.ts';

/** Notes the number of runs that `--retry-unknown` creates although an earlier creation may have been paid for. */
export function noteSecondPayments({ io }: Pick<Context, 'io'>, count: number): void {
  if (count > 0) io.note(`note: --retry-unknown: ${counted(count, 'run')} may be paid for twice`);
}
