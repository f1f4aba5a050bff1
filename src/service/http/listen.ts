import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import { formatUrlHost } from './host-matcher.ts';

/** The service can't listen on its address. The message names the address and the remedy. */
class ListenError extends Error {
  readonly code = 'CANNOT_LISTEN';
}

/** The flags that name the address of the service, for messages. */
const ADDRESS_FLAGS = { host: '--host', port: '--port' };

const explainMissingAddress = ({ host }: typeof ADDRESS_FLAGS): string =>
  `this machine has no such address; check ${host}`;

const LISTEN_FAULTS: Readonly<Record<string, (flags: typeof ADDRESS_FLAGS) => string>> = {
  EADDRINUSE: ({ port }) =>
    `the port is in use; choose another one with ${port}, or 0 for any free one`,
  EACCES: ({ port }) => `that port is not allowed; choose one above 1023 with ${port}`,
  EADDRNOTAVAIL: explainMissingAddress,
  ENOTFOUND: explainMissingAddress,
};

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly flags?: Readonly<typeof ADDRESS_FLAGS>;
}

/**
 * Resolves once the server accepts connections.
 *
 * @throws {ListenError} if it can't; the message names the flags
 */
export async function listen(
  server: Server,
  { host, port, flags = ADDRESS_FLAGS }: ListenAddress,
): Promise<void> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    const reason = LISTEN_FAULTS[getErrorCode(error) ?? '']?.(flags) ?? getErrorMessage(error);
    throw new ListenError(`can't listen on ${formatUrlHost(host)}:${port}: ${reason}`, {
      cause: error,
    });
  }
}

/** Returns the origin of a listening server, such as `http://127.0.0.1:8787`. */
export function getServerOrigin(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${formatUrlHost(host)}:${port}`;
}
