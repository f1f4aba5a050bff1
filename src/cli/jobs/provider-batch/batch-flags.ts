import type { Context } from '../../context.ts';

interface ProviderBatchFlags {
  readonly providerBatch?: boolean;
  readonly cancel?: boolean;
}

/**
 * Returns true if creations go through their provider's batches. `--cancel` creates no others; a
 * replay sends nothing.
 */
export function usesProviderBatch(
  { isReplay }: Pick<Context, 'isReplay'>,
  { providerBatch = false, cancel = false }: ProviderBatchFlags,
): boolean {
  return (providerBatch || cancel) && !isReplay;
}
