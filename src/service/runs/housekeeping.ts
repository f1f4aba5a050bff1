import type { Clock } from '../core/clock.ts';
import type { Media } from '../media/media.ts';
import type { Store } from '../store/store.ts';
import type { InputFiles } from './input-files.ts';

interface HousekeepingOptions {
  store: Store;
  media: Media;
  inputs: InputFiles;
  clock: Clock;
  onFault: (error: unknown) => void;
}

const HOUSEKEEPING_INTERVAL_MS = 60 * 60 * 1000;

/** Removes expired and orphaned data, now and every hour until `stop` is aborted. */
export async function runHousekeeping(
  options: HousekeepingOptions,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await removeExpired(options);
    await options.clock.sleep(HOUSEKEEPING_INTERVAL_MS, stop).catch(() => {});
  }
}

/** Removes each kind of data, even if the removal of another fails. */
async function removeExpired({
  store,
  media,
  inputs,
  clock,
  onFault,
}: HousekeepingOptions): Promise<void> {
  await media.sweep().catch(onFault);
  await inputs.sweep().catch(onFault);
  await store.runs.forgetKeys(clock.now()).catch(onFault);
  await store.workers.sweep().catch(onFault);
}
