import Fastify from 'fastify';
import { startService } from '../../src/service/index.ts';

/** What the process that is measured tells the one that measures. */
export interface Started {
  url: string;
  key: string;
}

const [kind, dataDir] = process.argv.slice(2);

/** The least a server can do: what the same answers cost without any service behind them. */
async function startBare(): Promise<Started> {
  const answer = {
    type: 'object',
    properties: {
      status: { type: 'string' },
      data: { type: 'object', properties: { runId: { type: 'string' }, tokens: { type: 'integer' } } },
    },
  };
  const app = Fastify();
  const handler = async (): Promise<object> => ({ status: 'SUCCESS', data: { runId: 'x', tokens: 1 } });
  app.get('/v1/anything', { schema: { response: { 200: answer } } }, handler);
  app.post('/v1/anything', { schema: { response: { 200: answer } } }, handler);
  return { url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1`, key: 'none' };
}

async function startMeasured(): Promise<Started> {
  const { url, sessionKey } = await startService({ dataDir: dataDir ?? '', env: {}, embedded: true });
  return { url, key: sessionKey };
}

if (process.send) process.send(kind === 'bare' ? await startBare() : await startMeasured());
