import { createHash } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** What the lock of a file is called by: its place on its disk, however its name is written. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Lets go of a file; resolves once another may hold it. */
export type Unlock = () => Promise<void>;

/**
 * Holds a file for this process; gives how to let go of it, or undefined where another process of this machine holds
 * it. The system lets go by itself when the process dies, however it does.
 */
export async function lockFile(identity: FileIdentity): Promise<Unlock | undefined> {
  const address = addressOf(identity);
  const server = await listen(address);
  if (server !== undefined) {
    return unlocker(server);
  }
  if (isAbstract(address) || (await isAnswered(address))) {
    return undefined;
  }
  await unlink(address).catch(() => {}); // left behind by a process that died
  const second = await listen(address);
  return second && unlocker(second);
}

function unlocker(server: net.Server): Unlock {
  return () => new Promise(resolve => server.close(() => resolve()));
}

/** A socket's address: in memory only on Linux and Windows, in the directory for temporary files elsewhere. */
function addressOf({ dev, ino }: FileIdentity): string {
  const name = `promptrun-batch-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 24)}`;
  if (process.platform === 'linux') {
    return `\0${name}`;
  }
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : path.join(os.tmpdir(), `${name}.sock`);
}

function isAbstract(address: string): boolean {
  return address.startsWith('\0') || address.startsWith('\\\\.\\pipe\\');
}

function listen(address: string): Promise<net.Server | undefined> {
  const server = net.createServer(socket => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error),
    );
    server.listen(address, () => resolve(server));
  });
}

function isAnswered(address: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = net.connect(address, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
