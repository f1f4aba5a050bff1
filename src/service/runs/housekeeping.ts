import type { Clock } from '../core/clock.ts';
import type { Media } from '../media/media.ts';
import type { Store } from '../store/store.ts';
import type { InputFiles } from './input-files.ts';

interface HousekeepingOptions {
  store: Store;
  media: Media;
  inputFiles: InputFiles;
  clock: Clock;
  onFault: (error: unknown) => void;
}

const HOUSEKEEPING_INTERVAL_MS = 60 * 60 * 1000;

/** Removes expired and orphaned data, now and every hour until the signal is aborted. */
export async function runHousekeeping(
  options: HousekeepingOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await removeExpired(options);
    await options.clock.sleep(HOUSEKEEPING_INTERVAL_MS, signal).catch(() => {});
  }
}

/** Removes expired data of each kind, even if another kind can't be removed. */
async function removeExpired({
  store,
  media,
  inputFiles,
  clock,
  onFault,
}: HousekeepingOptions): Promise<void> {
  await media.deleteExpired().catch(onFault);
  await inputFiles.deleteExpired().catch(onFault);
  await store.runs.deleteExpiredKeys(clock.now()).catch(onFault);
  await store.workers.removeDead().catch(onFault);
}
