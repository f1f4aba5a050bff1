import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../files/writing/write-file.ts';

/** The error of a run whose answer is not asked for again. */
export const UNSTORED_REASON =
  'the answer could not be stored before the service stopped; it may have been paid for';

/** The runs whose answers were waiting to be stored when the service stopped. */
export type UnstoredRuns = ReturnType<typeof openUnstoredRuns>;

/**
 * Marks runs with empty files below the data directory, because the store was away. A model was
 * asked about them, so the next start must not ask it again.
 */
export function openUnstoredRuns(folder: string) {
  const formatMarkName = (runId: string) => path.join('unstored-runs', runId);
  const has = (runId: string) => existsSync(path.join(folder, formatMarkName(runId)));
  return {
    has,
    add: (runId: string) => replaceFile({ folder, name: formatMarkName(runId) }, ''),
    /** Removes the mark of a run that has ended. */
    remove: async (runId: string): Promise<void> => {
      if (has(runId)) await rm(path.join(folder, formatMarkName(runId)));
    },
  };
}
