import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { systemClock } from '../../../src/cli/runtime/create-context.ts';
import { localService } from '../../../src/main.ts';
import { runInProcess, temporaryDirectory } from '../../support/context.ts';
import {
  deadBaseUrl,
  type Exchange,
  failure,
  scriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';

const KEY = 'a-long-secret-key';
const ACCOUNT = { username: 'ada', displayName: null, userFlags: 0 };

async function serviceEnvFor(...script: Exchange[]) {
  const service = await scriptedServiceForTest(...script);
  return { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
}

const me = (headers: Record<string, string> = {}): Exchange => ({
  expect: { path: '/me', headers: { 'cli-agent': null } },
  answer: success(ACCOUNT, headers),
});

describe('after the result', () => {
  it('renews the resources once if an answer asks for it, and names them from then on', async () => {
    const env = await serviceEnvFor(
      { ...me({ 'action-require': 'x' }) },
      {
        expect: { method: 'GET', path: '/resources' },
        answer: success({ hash: 'h2', resources: { models: [] } }, { 'action-require': 'again' }),
      },
      { expect: { path: '/me', headers: { 'cli-agent': 'h2' } }, answer: success(ACCOUNT) },
    );

    const home = temporaryDirectory();
    const first = await runInProcess(['api', 'GET', '/me'], { env, home });
    const second = await runInProcess(['api', 'GET', '/me'], { env, home });

    expect(first.stderr()).toBe('');
    expect(first.exitCode).toBe(0);
    expect(second.exitCode).toBe(0);
  });

  it('ignores a failure to renew them', async () => {
    const env = await serviceEnvFor(me({ 'action-require': '' }), {
      expect: { path: '/resources' },
      answer: failure(500, 'SERVER_ERROR', 'no'),
    });
    const { exitCode, stderr } = await runInProcess(['api', 'GET', '/me'], { env });
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it('gives them no longer than --timeout leaves', async () => {
    let passed = 0;
    let askedAt = 0;
    const env = await serviceEnvFor(
      {
        ...me(),
        answer: () => {
          passed = 600_000 - 200;
          return success(ACCOUNT, { 'action-require': '' });
        },
      },
      {
        expect: { path: '/resources' },
        answer: () => {
          askedAt = performance.now();
          return 'silence';
        },
      },
    );
    const { exitCode } = await runInProcess(['api', 'GET', '/me', '--timeout', '10m'], {
      env,
      clock: { ...systemClock, now: () => Date.now() + passed },
    });

    expect(exitCode).toBe(0);

    // Without the limit, they have five seconds.
    expect(performance.now() - askedAt).toBeLessThan(5000);
  });

  it('renews them after a failure as well', async () => {
    const refused = failure(404, 'NOT_FOUND_ERROR', 'no', null, { 'action-require': '1' });
    const env = await serviceEnvFor(
      { expect: { path: '/me' }, answer: refused },
      { expect: { path: '/resources' }, answer: success({ hash: 'h', resources: { models: [] } }) },
    );
    expect((await runInProcess(['api', 'GET', '/me'], { env })).exitCode).toBe(EXIT.notFound);
  });
});

describe('a proxy', () => {
  it('is used unless the host is excepted; the small letters win', async () => {
    const env = await serviceEnvFor({ ...me(), times: 2 });
    const dead = (await deadBaseUrl()).replace('/v1', '');
    const exitCodeWith = async (more: Record<string, string>) =>
      (await runInProcess(['api', 'GET', '/me'], { env: { ...env, ...more } })).exitCode;

    expect(await exitCodeWith({ HTTP_PROXY: dead })).toBe(1);
    expect(await exitCodeWith({ http_proxy: dead, HTTP_PROXY: '' })).toBe(1);
    expect(await exitCodeWith({ HTTP_PROXY: dead, NO_PROXY: '127.0.0.1' })).toBe(0);
    expect(await exitCodeWith({ HTTP_PROXY: dead, REQUEST_METHOD: 'GET' })).toBe(0);
  });
});

describe('--debug', () => {
  it('prints each request, answer and retry, and never the key', async () => {
    const env = await serviceEnvFor(
      { expect: { path: '/me' }, answer: failure(503, 'SERVER_ERROR', 'no') },
      me(),
    );
    const { stderr } = await runInProcess(['api', 'GET', '/me', '--debug'], { env });
    const url = `${env.PROMPTRUN_BASE_URL}/me`;

    expect(stderr().trimEnd().split('\n')).toEqual([
      `debug: GET ${url}`,
      expect.stringMatching(/^debug: GET \S+ 503 in \d+ ms$/),
      expect.stringMatching(/^debug: GET \S+ again in \d+ ms$/),
      `debug: GET ${url} try 2`,
      expect.stringMatching(/^debug: GET \S+ 200 in \d+ ms$/),
    ]);
    expect(stderr()).not.toContain(KEY);
  });
});

describe('the embedded service', () => {
  it('is named once on standard error, unless it was chosen or notes are off', async () => {
    const home = temporaryDirectory();
    const stderr = async (...flags: string[]) =>
      (await runInProcess(['account', ...flags], { home, local: localService })).stderr();
    expect(await stderr()).toMatch(/^Using the embedded service \(profile local\).*\n$/);
    expect(await stderr('--quiet')).toBe('');
    expect(await stderr('--profile', 'local')).toBe('');
  });
});
