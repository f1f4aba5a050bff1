import { constants, createReadStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Opens a file, a device or a pipe that the user named, for reading. A pipe is waited for by the
 * event loop: a thread that waits for a writer can't be ended, and keeps the process from exiting.
 *
 * @throws file system errors of a pipe; those of anything else come from the stream
 */
export function openReadable(file: string, signal?: AbortSignal): Readable {
  const isPipe =
    process.platform !== 'win32' && statSync(file, { throwIfNoEntry: false })?.isFIFO() === true;
  if (!isPipe) return createReadStream(file, { signal });
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false, ...(signal && { signal }) });
}
