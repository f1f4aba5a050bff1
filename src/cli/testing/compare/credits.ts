import type { Connection } from '../../context.ts';
import type { ComparedRow } from './comparison.ts';

/** Pages of the list that are read at most. */
const MOST_PAGES = 20;

/** The rows with what each run cost: only the list of runs says that. What is not found there stays unknown. */
export async function withCredits(
  { client }: Connection,
  rows: readonly ComparedRow[],
  signal: AbortSignal,
): Promise<ComparedRow[]> {
  const wanted = new Set(rows.flatMap(({ results }) => results.flatMap(({ run }) => run?.runId ?? [])));
  const credits = new Map<string, number | null>();
  try {
    let startingAfter: string | undefined;
    for (let page = 0; page < MOST_PAGES && credits.size < wanted.size; page += 1) {
      const query = { limit: 50, ...(startingAfter !== undefined && { startingAfter }) };
      const { rows: listed, hasMore } = await client.runs.list(query, { signal });
      for (const { runId, credits: cost } of listed) {
        if (wanted.has(runId)) {
          credits.set(runId, cost);
        }
      }
      startingAfter = listed.at(-1)?.runId;
      if (!hasMore || startingAfter === undefined) {
        break;
      }
    }
  } catch {
    // A comparison is complete without them.
  }
  return rows.map(row => ({
    ...row,
    results: row.results.map(result => ({
      ...result,
      credits: credits.get(result.run?.runId ?? '') ?? null,
    })),
  }));
}
