import { type FSWatcher, watch } from 'node:fs';
import { toError } from '../utils/error-utils.ts';

export interface WatchOptions {
  /** Returns true for file names to watch. */
  readonly isWatched: (name: string) => boolean;
  /** Called once per burst of events; calls never overlap. */
  readonly onChange: () => Promise<void>;
  readonly onError: (error: Error) => void;
}

/**
 * Time within which events count as one change, in milliseconds: editors write, rename and touch.
 */
const DIRECTORY_SETTLE_MS = 100;

export interface DirectoryWatcher {
  /** Calls `onChange` now, after any running call. */
  readonly notifyNow: () => Promise<void>;
  readonly close: () => void;
}

/** Watches the files of a directory without keeping the process alive. */
export function watchDirectory(
  directory: string,
  { isWatched, onChange, onError }: WatchOptions,
): DirectoryWatcher {
  let timer: NodeJS.Timeout | undefined;
  let lastCall: Promise<void> = Promise.resolve();
  const notifyNow = (): Promise<void> => {
    lastCall = lastCall.then(onChange).catch((error: unknown) => onError(toError(error)));
    return lastCall;
  };

  const onEvent = (_: string, name: string | null): void => {
    if (name !== null && !isWatched(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void notifyNow(), DIRECTORY_SETTLE_MS);
    timer.unref();
  };

  const watcher = openWatcher(directory, onEvent, onError);
  const close = (): void => {
    clearTimeout(timer);
    watcher?.close();
  };

  return { notifyNow, close };
}

function openWatcher(
  directory: string,
  onEvent: (event: string, name: string | null) => void,
  onError: (error: Error) => void,
): FSWatcher | undefined {
  try {
    return watch(directory, { persistent: false }, onEvent).on('error', onError);
  } catch (error) {
    onError(new Error(`can't watch ${directory} for changes`, { cause: error }));
    return undefined;
  }
}
