import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startService } from '../../src/service/index.ts';

/** The message from the measured process to the one that measures. */
export interface Started {
  url: string;
  key: string;
}

const [kind, dataDir, database] = process.argv.slice(2);

/**
 * Starts a server that does the least it can: it sends the same bytes, without any service behind
 * them.
 */
function startBare(): Promise<Started> {
  return startAnswering(() => ({ runId: 'x', tokens: 1 }));
}

/** Starts a service that takes no time: every run has ended when it is created. */
function startInstant(): Promise<Started> {
  const runId = '6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11';
  const run = {
    runId,
    outputs: [{ type: 'text', data: 'hello' }],
    runStatus: 'succeeded',
    tokens: 1,
  };

  const model = { model: 'echo', modality: 'text', availableRunOptions: [] };
  const resources = { hash: 'bW9kZWxz', resources: { models: [model] } };
  return startAnswering(url => (url === '/v1/resources' ? resources : run));
}

async function startAnswering(dataFor: (url: string | undefined) => object): Promise<Started> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const body = JSON.stringify({ status: 'SUCCESS', data: dataFor(request.url) });
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'content-length': body.length,
      };
      response.writeHead(200, headers).end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, key: 'none' };
}

async function startMeasured(): Promise<Started> {
  const { url, sessionKey } = await startService({
    dataDir: dataDir ?? '',
    databaseUrl: database === '' ? undefined : database,
    env: {},
  });
  return { url, key: sessionKey };
}

const starts: Record<string, () => Promise<Started>> = { bare: startBare, instant: startInstant };
if (process.send) process.send(await (starts[kind ?? ''] ?? startMeasured)());
