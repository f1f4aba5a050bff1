import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { isPosix } from '../support/system.ts';

const executeFile = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');
let home: string;
let service: Awaited<ReturnType<typeof startService>>;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'promptrun-day-'));
  service = await startService({
    dataDir: path.join(home, 'data'),
    host: '127.0.0.1',
    port: 0,
    syncWindowMs: 120_000,
    graceMs: 0,
    onNotice: () => {},
  });
});

afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

it.runIf(isPosix)(
  'the command does a day of work in a shell script with set -euo pipefail and no terminal',
  async () => {
    const { stdout } = await executeFile('bash', [path.join(ROOT, 'test/e2e/day-of-work.sh')], {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        PROMPTRUN: path.join(ROOT, 'bin/promptrun.js'),
        PROMPTRUN_BASE_URL: service.url,
        PROMPTRUN_API_KEY: service.sessionKey,
      },
    });
    expect(stdout.trim().split('\n').at(-1)).toBe('done');
  },
  300_000,
);
