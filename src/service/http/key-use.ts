import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';

/** How fine the time of a key's last use is kept, in milliseconds. */
const STEP_MS = 60_000;

/** Notes when a key was last used, by the minute, and never at the cost of the request. */
export function keyUseNotes(
  store: Store,
  clock: Clock,
  onFault: (error: unknown) => void,
): (keyId: string, lastUsedAt: number | null) => void {
  const noted = new Map<string, number>();
  return (keyId, lastUsedAt) => {
    const now = clock.now();
    const last = Math.max(lastUsedAt ?? 0, noted.get(keyId) ?? 0);
    if (now - last < STEP_MS) return;
    noted.set(keyId, now);
    store.accounts.noteUse(keyId, now).catch(onFault);
  };
}
