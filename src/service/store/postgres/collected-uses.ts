import type { Db } from '../writer.ts';

/**
 * Interval of writing the uses of prompts. Written with each creation, they would make all users
 * wait for each other.
 */
const USES_INTERVAL_MS = 1000;

export type CollectedUses = ReturnType<typeof createUseCollector>;

/** Counts uses of prompts, and writes them at intervals. */
export function createUseCollector(db: Db) {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
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

  return {
    add(promptId: string): void {
      counts.set(promptId, (counts.get(promptId) ?? 0) + 1);
      // Counts lost to a database fault are acceptable: uses only rank the search.
      timer ??= setTimeout(() => void flush().catch(() => {}), USES_INTERVAL_MS).unref();
    },
    pending: (promptId: string): number => counts.get(promptId) ?? 0,
    flush: () => flush().catch(() => {}),
  };
}
