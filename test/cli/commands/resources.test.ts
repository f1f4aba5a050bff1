import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import {
  createTemporaryDirectory,
  runInProcess,
  startInProcess,
  TEST_NOW,
} from '../../support/context.ts';
import { runWithScript } from '../../support/run-with-script.ts';
import {
  type Exchange,
  failure,
  html,
  startScriptedService,
  success,
} from '../../support/scripted-service.ts';

const MODELS = [
  { model: 'echo', modality: 'text', availableRunOptions: [] },
  {
    model: 'card',
    modality: 'image',
    availableRunOptions: [
      { key: 'quality', options: ['low', 'high'] },
      { key: 'size', options: ['1x1'] },
    ],
    priceHint: { kept: true },
  },
];

/** The header with which a service asks for a refresh of the cached models. */
const REFRESH_HEADER = { 'action-require': 'refresh' };

function resources(hash: string, headers: Record<string, string> = {}): Exchange {
  return {
    expect: { path: '/resources' },
    answer: success({ hash, resources: { models: MODELS } }, headers),
  };
}

describe('resources list', () => {
  it('shows models and their run options', async () => {
    const { stdout } = await runWithScript([resources('h1')], ['resources', 'list']);
    expect(stdout).toBe('echo\ttext\t\ncard\timage\tquality=low,high size=1x1\n');
    const table = await runWithScript([resources('h1')], ['models'], {
      terminal: { stdout: true },
      env: { NO_COLOR: '1' },
    });
    expect(table.stdout).toBe(
      'MODEL  MODALITY  RUN OPTIONS\necho   text\ncard   image     quality=low,high size=1x1\n',
    );
  });

  it('prints the JSON unchanged', async () => {
    const { stdout } = await runWithScript([resources('h1')], ['models', '--json']);
    expect(JSON.parse(stdout)).toEqual(MODELS);
  });

  it('filters models by modality and by name', async () => {
    const query = ['--query', '[].model'];
    expect(
      (await runWithScript([resources('h')], ['models', '--modality', 'image', ...query])).stdout,
    ).toContain('card');
    expect(
      (await runWithScript([resources('h')], ['models', '--model', 'echo', ...query])).stdout,
    ).toContain('echo');
    expect(await runWithScript([resources('h')], ['models', '--model', 'none'])).toMatchObject({
      stdout: '',
      exitCode: 0,
    });
  });

  it('refuses an unknown modality before anything is sent', async () => {
    const { stderr, exitCode } = await runWithScript([], ['models', '--modality', 'imge']);
    expect(stderr).toContain('did you mean image?');
    expect(exitCode).toBe(EXIT.usage);
  });

  it('fetches the models each time, but shows the cached ones with --cached', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedService([resources('h1'), resources('h2')]);
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' };
    await runInProcess(['models'], { home, env });
    await runInProcess(['models'], { home, env });
    await service.close();
    service.verify();

    const cached = await runInProcess(['models', '--cached', '--query', '[].model'], { home, env });
    expect(JSON.parse(cached.stdout())).toEqual(['echo', 'card']);
    expect(cached.exitCode).toBe(0);
  });

  it('shows no cached models of another key', async () => {
    const { home, service } = await runWithScript([resources('h1')], ['models']);
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'another-key' };
    const { stdout, exitCode } = await runInProcess(['models', '--cached'], { home, env });
    expect(stdout()).toBe('');
    expect(exitCode).toBe(EXIT.notFound);
  });

  it('exits with 4 if nothing is cached', async () => {
    const { stderr, exitCode } = await runWithScript([], ['resources', 'list', '--cached']);
    expect(stderr).toMatch(/^error: no models are cached/u);
    expect(exitCode).toBe(EXIT.notFound);
  });

  it('starts no service for cached models', async () => {
    const { stderr, exitCode, home } = await runInProcess(['models', '--cached']);
    expect(stderr()).toContain('no models are cached');
    expect(exitCode).toBe(EXIT.notFound);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('resources refresh and status', () => {
  it('refreshes the models, then shows hash, age and file', async () => {
    const service = [resources('h1')];
    const {
      home,
      stdout,
      service: scripted,
    } = await runWithScript(service, ['resources', 'refresh']);

    expect(stdout).toBe('h1\t2\n');

    const env = { PROMPTRUN_BASE_URL: scripted.baseUrl, PROMPTRUN_API_KEY: 'key', NO_COLOR: '1' };
    const clock = { now: () => TEST_NOW + 3 * 3600_000 };
    const status = await runInProcess(['resources', 'status'], {
      home,
      env,
      clock,
      terminal: { stdout: true },
    });

    expect(status.stdout()).toBe(
      [
        `Service  ${scripted.baseUrl}`,
        'Hash     h1',
        'Models   2, fetched 3 hours ago',
        `File     ${path.join(home, 'config', 'resources.json')}`,
        '',
      ].join('\n'),
    );

    const json = await runInProcess(['resources', 'status', '--json'], { home, env });
    expect(JSON.parse(json.stdout())).toMatchObject({
      hash: 'h1',
      models: 2,
      fetchedAt: new Date(TEST_NOW).toISOString(),
    });

    const other = await runInProcess(['resources', 'status', '--query', 'hash'], {
      home,
      env: { ...env, PROMPTRUN_API_KEY: 'other' },
    });
    expect(other.stdout()).toBe('null\n');
  });

  it('prints the whole answer as JSON', async () => {
    const { stdout } = await runWithScript([resources('h1')], ['resources', 'refresh', '--json']);
    expect(JSON.parse(stdout)).toEqual({ hash: 'h1', resources: { models: MODELS } });
  });
});

describe('a cache that cannot be written', () => {
  it('is reported by the commands that fill it', async () => {
    const home = createTemporaryDirectory();
    mkdirSync(`${home}/config/resources.json`, { recursive: true });
    const refreshed = await runWithScript([resources('h1')], ['resources', 'refresh'], { home });

    expect(refreshed).toMatchObject({ stdout: 'h1\t2\n', exitCode: 0 });
    expect(refreshed.stderr).toBe('The cache could not be written; see --debug.\n');

    const { stdout } = await runWithScript([resources('h1')], ['doctor'], { home });
    expect(stdout).toContain(
      'cache\tok\t2 models, which could not be written to the cache; see --debug',
    );
  });
});

describe('the cached hash', () => {
  const me = (headers: Record<string, string> = {}, hash: string | null = null): Exchange[] => [
    {
      expect: { path: '/me', headers: { 'cli-agent': hash } },
      answer: success({ username: 'ada', displayName: null, userFlags: 0 }, headers),
    },
    {
      expect: { path: '/me/credits', headers: { 'cli-agent': hash } },
      answer: success({ credits: 5 }, headers),
    },
  ];

  it('sends the hash with every request after a refresh', async () => {
    const script = [resources('h1'), ...me({}, 'h1')];
    const home = createTemporaryDirectory();
    const service = await startScriptedService(script, { isOrdered: false });
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' };
    await runInProcess(['resources', 'refresh'], { home, env });
    await runInProcess(['account'], { home, env });
    await service.close();
    service.verify();
  });

  it('refreshes the models once, after the result is printed, however often the service asks', async () => {
    let shown = '';
    const script = [
      ...me(REFRESH_HEADER),
      {
        expect: { path: '/resources' },
        answer: () => {
          shown = running.stdout();
          return success({ hash: 'h2', resources: { models: MODELS } }, REFRESH_HEADER);
        },
      },
    ];

    const service = await startScriptedService(script, { isOrdered: false });
    const env = { PROMPTRUN_BASE_URL: service.baseUrl, PROMPTRUN_API_KEY: 'key' };
    const running = startInProcess(['account', '--query', 'credits'], { env });

    expect(await running.ended).toBe(0);
    expect(shown).toBe('5\n');

    const status = await runInProcess(['resources', 'status', '--query', 'hash'], {
      env,
      home: running.home,
    });
    expect(status.stdout()).toBe('h2\n');

    await service.close();
    service.verify();
  });

  it.each([
    { name: 'a fault of the service', answer: failure(500, 'SERVER_ERROR', 'broken') },
    { name: 'a page of an intermediary', answer: html(502) },
    { name: 'nonsense', answer: success({ hash: 7 }) },
    { name: 'no answer', answer: 'reset-after-body' as const },
  ])('ignores $name in place of the refreshed models', async ({ answer }) => {
    const script = [...me(REFRESH_HEADER), { expect: { path: '/resources' }, answer }];
    const { stdout, stderr, exitCode } = await runWithScript(
      script,
      ['account', '--query', 'credits'],
      {
        isOrdered: false,
      },
    );
    expect(stdout).toBe('5\n');
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  });

  it('reports a failed refresh with --debug', async () => {
    const script = [
      ...me(REFRESH_HEADER),
      { expect: { path: '/resources' }, answer: failure(500, 'SERVER_ERROR', 'broken') },
    ];
    const { stderr } = await runWithScript(script, ['account', '--debug'], { isOrdered: false });
    expect(stderr).toContain('debug: models could not be refreshed');
  });

  it('keeps the exit code of a failed command after the refresh', async () => {
    const script = [
      {
        expect: { path: '/runs' },
        answer: failure(422, 'VALIDATION_ERROR', 'no', null, REFRESH_HEADER),
      },
      resources('h2'),
    ];
    expect((await runWithScript(script, ['runs', 'list'])).exitCode).toBe(EXIT.usage);
  });

  it('refreshes nothing after a command that fetched the models itself', async () => {
    await runWithScript([resources('h1', REFRESH_HEADER)], ['resources', 'refresh']);
    await runWithScript([resources('h1', REFRESH_HEADER)], ['models']);
  });

  it('does not refresh again if the answer to a refresh asks for it', async () => {
    const refused = failure(401, 'UNAUTHORIZED_ERROR', 'no', null, REFRESH_HEADER);
    await runWithScript(
      [{ expect: { path: '/resources' }, answer: refused }],
      ['resources', 'refresh'],
    );
    const script = [...me(REFRESH_HEADER), { expect: { path: '/resources' }, answer: refused }];
    await runWithScript(script, ['account'], { isOrdered: false });
  });
});
