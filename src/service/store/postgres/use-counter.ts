import { countUp } from '../../../utils/count-up.ts';
import type { Db } from '../writer.ts';

/**
 * Interval at which the uses of prompts are written, in milliseconds. If each creation wrote them,
 * all users would wait for each other. /
 */
const USES_INTERVAL_MS = 1000;

export type UseCounter = ReturnType<typeof createUseCounter>;

/** Counts uses of prompts, and writes them at intervals. */
export function createUseCounter(db: Db) {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const writeCounts = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const countsToWrite = counts;
    counts = new Map();

    for (const [id, uses] of countsToWrite) {
      await db
        .updateTable('prompts')
        .set(({ eb }) => ({ uses: eb('uses', '+', uses) }))
        .where('id', '=', id)
        .execute();
    }
  };

  // Counts lost to a database fault are acceptable: uses only rank the search.
  const flush = (): Promise<void> => writeCounts().catch(() => {});

  return {
    add(promptId: string): void {
      countUp(counts, promptId);
      timer ??= setTimeout(() => void flush(), USES_INTERVAL_MS).unref();
    },
    /** Returns the uses of a prompt that are counted, and not yet being written. */
    countPending: (promptId: string): number => counts.get(promptId) ?? 0,
    flush,
  };
}
