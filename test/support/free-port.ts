import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports that no system gives by itself to a server that takes any, or to a client that connects.
 */
const [LOWEST, BEYOND] = [20_000, 32_768];

/**
 * Returns a port of the loopback address that nobody listens on. Others take it only by its number,
 * so it stays free before its server starts, while that restarts, and once it has ended.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    await new Promise(resolve => server.close(resolve));
    if (isFree) return port;
  }
}
