import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';
import {
  type Exchange,
  failure,
  findDeadBaseUrl,
  startScriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';

async function startServiceForEnv(...script: Exchange[]) {
  const service = await startScriptedServiceForTest(...script);
  return { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'the-key' };
}

const HEALTHY: Exchange = {
  expect: { path: '/resources' },
  answer: success({
    hash: 'h',
    resources: { models: [{ model: 'm', modality: 'text', availableRunOptions: [] }] },
  }),
};

describe('doctor', () => {
  it('checks a healthy service with one request, and never prints the key', async () => {
    const env = await startServiceForEnv(HEALTHY);
    const { exitCode, stdout, stderr } = await runInProcess(['doctor'], { env });

    expect(
      stdout()
        .split('\n')
        .map(line => line.split('\t').slice(0, 2)),
    ).toEqual([
      ['configuration', 'ok'],
      ['reachability', 'ok'],
      ['key', 'ok'],
      ['cache', 'ok'],
      ['terminal', 'ok'],
      [''],
    ]);

    expect(stdout()).toContain('from PROMPTRUN_BASE_URL, key from PROMPTRUN_API_KEY');
    expect(stdout()).not.toContain('the-key');
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it('returns the exit code of a refused key', async () => {
    const env = await startServiceForEnv({
      answer: failure(401, 'UNAUTHORIZED_ERROR', 'unknown key'),
    });
    const { exitCode, stdout } = await runInProcess(['doctor', '--json'], { env });
    expect(JSON.parse(stdout())).toMatchObject({
      ok: false,
      checks: [
        { ok: true },
        { name: 'reachability', ok: true },
        { name: 'key', ok: false, detail: 'unknown key' },
        {},
        {},
      ],
    });
    expect(exitCode).toBe(EXIT.unauthorised);
  });

  it('returns the exit code of an unreachable service, after one try', async () => {
    const env = { PROMPTRUN_BASE_URL: await findDeadBaseUrl(), PROMPTRUN_API_KEY: 'k' };
    const { exitCode, stdout, stderr } = await runInProcess(['doctor', '--debug'], { env });
    expect(stdout()).toMatch(/^reachability\tfailed\t/m);
    expect(stderr().match(/debug: GET .* failed after/g)).toHaveLength(1);
    expect(exitCode).toBe(EXIT.fault);
  });

  it('returns the exit code of an unusable configuration, and sends nothing', async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'config'));
    writeFileSync(path.join(home, 'config', 'config.json'), '{');
    const { exitCode, stdout } = await runInProcess(['doctor'], { home });
    expect(stdout()).toMatch(/^configuration\tfailed\t.*config\.json is damaged/);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('reports a damaged local store as a failed check', async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'data'), { mode: 0o700 });
    writeFileSync(path.join(home, 'data', 'promptrun.db'), 'not a database '.repeat(100));
    const { exitCode, stdout } = await runInProcess(['doctor'], { home, local: localService });
    expect(stdout()).toMatch(/^configuration\tfailed\tthe store .*promptrun\.db is damaged/);
    expect(stdout()).toMatch(/^terminal\tok\t/m);
    expect(exitCode).toBe(EXIT.usage);
  });

  it('shows the next steps on a terminal', async () => {
    const { stdout, exitCode } = await runInProcess(['doctor', '--base-url', 'https://a.test'], {
      terminal: { stdout: true },
      env: { NO_COLOR: '1' },
    });
    expect(stdout()).toMatch(/^failed +configuration +no key for a\.test/);
    expect(stdout()).toMatch(/\n +Store one with promptrun login /);
    expect(exitCode).toBe(EXIT.unauthorised);
  });
});
