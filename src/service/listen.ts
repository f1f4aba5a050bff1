import type { Server } from 'node:http';
import { inUrl } from './http/hosts.ts';
import { codeOf, messageOf } from './thrown.ts';

/** The service can't listen where it was told to. The message names the address and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Resolves once the server takes connections. Throws ListenError. */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw new ListenError(`can't listen on ${inUrl(host)}:${port}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return 'the port is in use; choose another one with --port, or 0 for any free one';
  }
  if (code === 'EACCES') return 'that port is not allowed; choose one above 1023 with --port';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return 'this machine has no such address; check --host';
  }
  return messageOf(error);
}
