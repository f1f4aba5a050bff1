import { setMaxListeners } from 'node:events';

/** A signal that many requests may share: without this Node warns of a leak at the eleventh. */
export function shared<S extends AbortSignal | undefined>(signal: S): S {
  if (signal) setMaxListeners(0, signal);
  return signal;
}
