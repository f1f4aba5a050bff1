import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildCommandEnvironment } from '../support/environment.ts';

/** A short batch, most of which V8 spends on learning the code, and a long one. */
const ROWS = [2000, 10_000];
const CONCURRENCY = 16;
const ANSWER_MS = 50;
const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';

/**
 * The work that any client has to do: a POST a row over kept connections, two lines a row on disk,
 * synced in groups.
 */
const BARE_LOOP = `
const http = require('node:http');
const fs = require('node:fs/promises');
const [url, rows, concurrency, file] = process.argv.slice(1);
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(concurrency) });
const send = body => new Promise((resolve, reject) => {
  const request = http.request(url + '/runs', { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } }, answer => {
    const pieces = [];
    answer.on('data', piece => pieces.push(piece)).on('end', () => resolve(JSON.parse(Buffer.concat(pieces)))).on('error', reject);
  });
  request.on('error', reject).end(body);
});
(async () => {
  const out = await fs.open(file, 'a');
  let waiting = [], group, writing = Promise.resolve();
  const append = line => {
    waiting.push(line);
    group ??= writing = writing.then(async () => {
      const text = waiting.join(''); waiting = []; group = undefined;
      await out.appendFile(text); await out.datasync();
    });
    return group;
  };
  let next = 0;
  const worker = async () => {
    while (next < Number(rows)) {
      const row = ++next;
      await append(JSON.stringify({ row, state: 'creating' }) + '\\n');
      const { data } = await send(JSON.stringify({ promptVersionId: '${VERSION}', inputs: { textInputs: { name: 'row ' + row } } }));
      await append(JSON.stringify({ row, ...data }) + '\\n');
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
  await out.close();
  agent.destroy();
})();
`;

interface Cost {
  readonly rowsASecond: number;
  readonly cpuMsARow: number;
}

/**
 * Batches at concurrency 16 on answers that take 50 ms, each beside a bare loop of as many rows.
 */
export default async function benchBatches(): Promise<void> {
  for (const rows of ROWS) await benchRows(rows);
}

async function benchRows(rows: number): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), 'promptrun-bench-'));
  const server = startAnswering();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    const names = Array.from({ length: rows }, (_, index) => `row ${index}`);
    writeFileSync(path.join(home, 'rows.csv'), `name\n${names.join('\n')}\n`);
    const bare = await measureCost(home, rows, [
      '-e',
      BARE_LOOP,
      url,
      String(rows),
      String(CONCURRENCY),
      path.join(home, 'bare'),
    ]);

    const flags = [
      '--concurrency',
      String(CONCURRENCY),
      '--rate',
      '0',
      '--quiet',
      '--out',
      'results.jsonl',
    ];

    const command = path.resolve('bin/promptrun.js');
    const batch = await measureCost(
      home,
      rows,
      [command, 'batch', VERSION, '--from', 'rows.csv', ...flags],
      url,
    );
    report(rows, { bare, batch });
  } finally {
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  }
}

function report(rows: number, { bare, batch }: { bare: Cost; batch: Cost }): void {
  const ratio = batch.rowsASecond / bare.rowsASecond;
  process.stdout.write(
    `batch, ${rows} rows at concurrency ${CONCURRENCY}, answers after ${ANSWER_MS} ms: ` +
      `${batch.rowsASecond.toFixed(0)} rows a second, ${ratio.toFixed(2)} of a bare loop (at least 0.90); ` +
      `${batch.cpuMsARow.toFixed(2)} ms CPU a row (at most 2.50; bare ${bare.cpuMsARow.toFixed(2)})\n`,
  );
}

function startAnswering(): ReturnType<typeof createServer> {
  return createServer((request, response) => {
    request.resume().on('end', () => {
      const data =
        request.method === 'POST'
          ? {
              runId: randomUUID(),
              outputs: [{ type: 'text', data: 'ok' }],
              runStatus: 'succeeded',
              tokens: 1,
            }
          : {
              promptVersionId: VERSION,
              promptId: VERSION,
              title: 't',
              publishedAt: '',
              config: {},
            };
      const send = (): void => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ status: 'SUCCESS', data }));
      };
      if (request.method === 'POST') {
        setTimeout(send, ANSWER_MS);
      } else {
        send();
      }
    });
  });
}

/** Measures time and CPU of a separate process, including its start. */
function measureCost(home: string, rows: number, argv: readonly string[], url = ''): Promise<Cost> {
  const env = buildCommandEnvironment(home, {
    PROMPTRUN_BASE_URL: url,
    PROMPTRUN_API_KEY: 'a-key',
  });
  const startedAt = process.hrtime.bigint();
  return new Promise((resolve, reject) => {
    // The shell reports what its children took.
    const script = '"$@" >&2 || exit 1; times';
    execFile(
      'bash',
      ['-c', script, 'bash', process.execPath, ...argv],
      { cwd: home, env },
      (error, stdout, stderr) => {
        if (error) return reject(new Error(`${error.message}\n${stderr}`));

        const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
        const children = stdout.trim().split('\n').at(-1) ?? '';
        const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/gu)].reduce(
          (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
          0,
        );
        resolve({ rowsASecond: rows / seconds, cpuMsARow: (cpu * 1000) / rows });
      },
    );
  });
}
