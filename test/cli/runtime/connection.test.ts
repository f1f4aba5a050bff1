import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { systemClock } from '../../../src/cli/runtime/create-context.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';
import {
  type Exchange,
  failure,
  findDeadBaseUrl,
  startScriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';

const KEY = 'a-long-secret-key';
const ACCOUNT = { username: 'ada', displayName: null, userFlags: 0 };

async function startScriptedServiceEnv(...script: Exchange[]) {
  const service = await startScriptedServiceForTest(...script);
  return { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: KEY };
}

/** Returns a look-up of the account by a command without cached resources. */
const accountLookup = (headers: Record<string, string> = {}): Exchange => ({
  expect: { path: '/me', headers: { 'cli-agent': null } },
  answer: success(ACCOUNT, headers),
});

describe('the cached resources', () => {
  it('are renewed once if an answer asks for it, and are named in later requests', async () => {
    const env = await startScriptedServiceEnv(
      accountLookup({ 'action-require': 'x' }),
      {
        expect: { method: 'GET', path: '/resources' },
        answer: success({ hash: 'h2', resources: { models: [] } }, { 'action-require': 'again' }),
      },
      { expect: { path: '/me', headers: { 'cli-agent': 'h2' } }, answer: success(ACCOUNT) },
    );

    const home = createTemporaryDirectory();
    const first = await runInProcess(['api', 'GET', '/me'], { env, home });
    const second = await runInProcess(['api', 'GET', '/me'], { env, home });

    expect(first.stderr()).toBe('');
    expect(first.exitCode).toBe(0);
    expect(second.exitCode).toBe(0);
  });

  it('may fail to be renewed without an error', async () => {
    const env = await startScriptedServiceEnv(accountLookup({ 'action-require': '' }), {
      expect: { path: '/resources' },
      answer: failure(500, 'SERVER_ERROR', 'no'),
    });
    const { exitCode, stderr } = await runInProcess(['api', 'GET', '/me'], { env });
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it('are renewed in no more time than --timeout leaves', async () => {
    let passedMs = 0;
    let requestedAt = 0;
    const env = await startScriptedServiceEnv(
      {
        ...accountLookup(),
        answer: () => {
          passedMs = 600_000 - 1000;
          return success(ACCOUNT, { 'action-require': '' });
        },
      },
      {
        expect: { path: '/resources' },
        answer: () => {
          requestedAt = performance.now();
          return 'silence';
        },
      },
    );
    const { exitCode } = await runInProcess(['api', 'GET', '/me', '--timeout', '10m'], {
      env,
      clock: { ...systemClock, now: () => Date.now() + passedMs },
    });

    expect(exitCode).toBe(0);

    // Without --timeout, they have five seconds.
    expect(performance.now() - requestedAt).toBeLessThan(5000);
  });

  it('are also renewed after a failed command', async () => {
    const refused = failure(404, 'NOT_FOUND_ERROR', 'no', null, { 'action-require': '1' });
    const env = await startScriptedServiceEnv(
      { expect: { path: '/me' }, answer: refused },
      { expect: { path: '/resources' }, answer: success({ hash: 'h', resources: { models: [] } }) },
    );
    expect((await runInProcess(['api', 'GET', '/me'], { env })).exitCode).toBe(EXIT.notFound);
  });
});

describe('a proxy', () => {
  const findDeadProxy = async (): Promise<string> => (await findDeadBaseUrl()).replace('/v1', '');

  /** Sends a request with these variables to a service. Returns the exit code of the command. */
  async function requestWith(variables: Record<string, string>, ...script: Exchange[]) {
    const env = { ...(await startScriptedServiceEnv(...script)), ...variables };
    return (await runInProcess(['api', 'GET', '/me'], { env })).exitCode;
  }

  it('is used if HTTP_PROXY names it', async () => {
    expect(await requestWith({ HTTP_PROXY: await findDeadProxy() })).toBe(EXIT.fault);
  });

  it('is that of http_proxy if HTTP_PROXY differs', async () => {
    const variables = { http_proxy: await findDeadProxy(), HTTP_PROXY: '' };
    expect(await requestWith(variables)).toBe(EXIT.fault);
  });

  it('is not used for a host in NO_PROXY', async () => {
    const variables = { HTTP_PROXY: await findDeadProxy(), NO_PROXY: '127.0.0.1' };
    expect(await requestWith(variables, accountLookup())).toBe(0);
  });

  it('is not taken from HTTP_PROXY in a CGI script, where a header could set it', async () => {
    const variables = { HTTP_PROXY: await findDeadProxy(), REQUEST_METHOD: 'GET' };
    expect(await requestWith(variables, accountLookup())).toBe(0);
  });
});

describe('--debug', () => {
  it('prints each request, answer and retry, and never the key', async () => {
    const env = await startScriptedServiceEnv(
      { expect: { path: '/me' }, answer: failure(503, 'SERVER_ERROR', 'no') },
      accountLookup(),
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
    const home = createTemporaryDirectory();
    const stderr = async (...flags: string[]) =>
      (await runInProcess(['account', ...flags], { home, local: localService })).stderr();
    expect(await stderr()).toMatch(/^Using the embedded service \(profile local\).*\n$/);
    expect(await stderr('--quiet')).toBe('');
    expect(await stderr('--profile', 'local')).toBe('');
  });
});
