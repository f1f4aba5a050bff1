import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Opens a file, a device or a pipe that the user named, for reading. A pipe is waited for by the event loop: a thread that
 * waits for a writer can't be ended, and keeps the process from exiting.
 *
 * @throws file system errors; those of a file come from the stream
 */
export function openReadable(file: string, signal?: AbortSignal): Readable {
  const pipe = process.platform === 'win32' ? undefined : openPipe(file);
  if (pipe === undefined) return createReadStream(file, { signal });
  return new Socket({ fd: pipe, readable: true, writable: false, ...(signal && { signal }) });
}

/** Opens a pipe, without waiting for a writer; undefined for anything else. */
function openPipe(file: string): number | undefined {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(descriptor).isFIFO()) return descriptor;
  closeSync(descriptor);
  return undefined;
}
