import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { openStore } from '../../src/service/index.ts';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import {
  buildCreation,
  createHeaders,
  fetchData,
  type Server,
  sampleVersion,
  startServer,
} from './service-server.ts';

const ROWS = 1_000_000;
const SECONDS = 5;
const CONNECTIONS = 20;

export interface Measured {
  perSecond: number;
  p99: number;
}

/**
 * Requests a second and 99th percentiles of the local service, beside a bare `node:http` in the
 * same run.
 */
export default async function benchService(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-bench-'));
  const servers: Server[] = [];
  const start = async (kind: 'service' | 'bare', name: string): Promise<Server> => {
    const server = await startServer(kind, path.join(directory, name));
    servers.push(server);
    return server;
  };

  try {
    await addRuns(path.join(directory, 'full'), ROWS);
    const bare = await start('bare', 'none');
    const full = await start('service', 'full');
    const empty = await start('service', 'empty');
    await measureAll(bare, full, empty);
  } finally {
    for (const { process } of servers) process.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureAll(bare: Server, full: Server, empty: Server): Promise<void> {
  const version = await sampleVersion(full);
  const middle = await findCursorInTheMiddle(full);
  for (let run = 0; run < 3; run += 1) await fetchData(empty, '/runs', buildCreation(version));
  const get = await measureServer(bare, '/anything');
  const create = await measureServer(bare, '/anything', buildCreation(version));
  report('bare GET', get, get);
  report('GET /resources', await measureServer(full, '/resources'), get);
  report('GET /runs, few rows', await measureServer(empty, '/runs'), get);
  report('GET /runs, a million rows', await measureServer(full, '/runs'), get);
  report(
    'GET /runs, from the middle',
    await measureServer(full, `/runs?startingAfter=${middle}`),
    get,
  );

  report('GET /runs, backwards', await measureServer(full, `/runs?endingBefore=${middle}`), get);
  report('GET /runs, rare status', await measureServer(full, '/runs?status=failed&limit=50'), get);
  report('GET /runs/:runId', await measureServer(full, `/runs/${middle}`), get);
  report('bare POST', create, create);
  report('POST /runs', await measureServer(full, '/runs', buildCreation(version)), create);
}

function report(name: string, measured: Measured, bare: Measured): void {
  const ratio = (measured.perSecond / bare.perSecond).toFixed(2);
  const perSecond = `${Math.round(measured.perSecond)}/s`.padStart(9);
  process.stdout.write(
    `${name.padEnd(28)}${perSecond}  p99 ${measured.p99} ms  ${ratio} of bare\n`,
  );
}

/** Measures a server under load. */
export async function measureServer(
  server: Server,
  target: string,
  body?: string,
): Promise<Measured> {
  const result = await autocannon({
    url: `${server.url}${target}`,
    method: body === undefined ? 'GET' : 'POST',
    headers: createHeaders(server),
    ...(body === undefined ? {} : { body }),
    connections: CONNECTIONS,
    duration: SECONDS,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${target}: ${result.non2xx} refused`);
  }
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

async function findCursorInTheMiddle(server: Server): Promise<string> {
  const since = Math.floor(Date.now() / 1000) - ROWS / 2;
  const { rows } = await fetchData<{ rows: { runId: string }[] }>(
    server,
    `/runs?limit=1&until=${since}`,
  );
  return rows[0]?.runId ?? '';
}

/** Rows a second apart, one in a thousand of them failed. */
export async function addRuns(dataDir: string, rows: number): Promise<void> {
  await (await openStore({ dataDir, env: {} })).close();
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
    insert into runs (id, userId, promptVersionId, name, status, createdAt, credits, tokens, outputs)
    select lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2),
        substr(hex(randomblob(2)), 2), hex(randomblob(6)))),
      1, '00000000-0000-4000-8000-000000000000', 'Hello', iif(i % 1000 = 0, 'failed', 'succeeded'),
      (${Math.floor(Date.now() / 1000)} - i) * 1000000, 1, 9, '[{"type":"text","data":"Hello, Ann!"}]'
    from n`);
  database.close();
}
