import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../../src/service/index.ts';
import { createTemporaryDataDir } from '../../../support/local-service.ts';

/** Starts a server that accepts connections and never answers. Returns its address. */
async function startSilentServer(sockets: Socket[]): Promise<string> {
  const server = createServer(socket => void sockets.push(socket)).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

test('hosts that are all silent are waited for once, and then named', async () => {
  const sockets: Socket[] = [];
  const hosts = [await startSilentServer(sockets), await startSilentServer(sockets)];
  const database = `postgres://ann@${hosts.join(',')}/team?connect_timeout=1`;
  const opened = openStore({ dataDir: createTemporaryDataDir(), databaseUrl: database, env: {} });
  await expect(opened).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  for (const host of hosts) await expect(opened).rejects.toThrow(host);
  expect(sockets).toHaveLength(hosts.length);
});
