import type { RunRow } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { type Doubt, type SearchOptions, searchRuns } from '../../creation/find-run.ts';

/** A service that keeps idempotency keys keeps them for a day; this leaves time to use them. */
const KEY_LIFETIME_MS = 23 * 3_600_000;

/** What can be done about a creation in doubt. */
export type Settlement =
  /** It is sent once more under its key. */
  | { readonly kind: 'repeat' }
  /** Its run was taken from the list. */
  | { readonly kind: 'wait'; readonly runId: string }
  /** It made no run. */
  | { readonly kind: 'none' }
  | { readonly kind: 'in doubt'; readonly candidates: readonly RunRow[] };

const UNSETTLED: Settlement = { kind: 'in doubt', candidates: [] };

/**
 * Settles creations in doubt, as many as can be: where the service keeps idempotency keys they can be sent again,
 * elsewhere one pass over the list decides. In the order of the doubts; what could not be asked for stays in doubt.
 */
export async function settleDoubts(
  ctx: Context,
  connection: Connection,
  doubts: readonly Doubt[],
  options: SearchOptions,
): Promise<Settlement[]> {
  if (doubts.length === 0) return [];
  const { client } = connection;
  const isKept = ({ time }: Doubt): boolean =>
    client.keepsIdempotencyKeys === true && ctx.clock.now() - Date.parse(time) < KEY_LIFETIME_MS;
  const toSearch = doubts.filter(doubt => !isKept(doubt));
  const found = await searchRuns(ctx, connection, toSearch, options).catch(() => []);
  const settled = new Map<string, Settlement>();
  for (const [at, doubt] of toSearch.entries()) {
    const { run, candidates, madeNone } = found[at] ?? { candidates: [], madeNone: false };
    if (run !== undefined) {
      settled.set(doubt.id, { kind: 'wait', runId: run.runId });
    } else {
      settled.set(doubt.id, madeNone ? { kind: 'none' } : { kind: 'in doubt', candidates });
    }
  }
  // The answer with the list may have said that keys are kept.
  return doubts.map(doubt => (isKept(doubt) ? { kind: 'repeat' } : (settled.get(doubt.id) ?? UNSETTLED)));
}
