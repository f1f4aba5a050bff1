import { setTimeout as delay } from 'node:timers/promises';
import { shared } from './signals.ts';

/** Waits; rejects with the signal's reason once it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  try {
    await delay(ms, undefined, signal && { signal: shared(signal) });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
