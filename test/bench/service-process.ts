import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startService } from '../../src/service/index.ts';

/** What the process that is measured tells the one that measures. */
export interface Started {
  url: string;
  key: string;
}

const [kind, dataDir] = process.argv.slice(2);

/** The least a server can do: the same bytes, without any service behind them. */
async function startBare(): Promise<Started> {
  const body = JSON.stringify({ status: 'SUCCESS', data: { runId: 'x', tokens: 1 } });
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length };
      response.writeHead(200, headers).end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, key: 'none' };
}

async function startMeasured(): Promise<Started> {
  const { url, sessionKey } = await startService({ dataDir: dataDir ?? '', env: {} });
  return { url, key: sessionKey };
}

if (process.send) process.send(kind === 'bare' ? await startBare() : await startMeasured());
