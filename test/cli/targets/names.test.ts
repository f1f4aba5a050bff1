import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../src/main.ts';
import { createTemporaryDirectory, runInProcess } from '../../support/context.ts';
import { runWithScript } from '../../support/run-with-script.ts';
import { type Exchange, failure, success } from '../../support/scripted-service.ts';
import { hasGit } from '../../support/system.ts';

const PROMPT_ID = '3f0a9f0e-6d7b-4c55-9b51-0a1d6a2f7c11';
const VERSION_ID = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const OLDER_VERSION_ID = '0b0c9999-4f0e-4c39-9b8e-7d0a2c7f1a55';
const RUN_ID = '5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const OTHER_RUN_ID = '5f0c8f99-4f0e-4c39-9b8e-7d0a2c7f1a55';

const SEARCH_ROW = {
  promptId: PROMPT_ID,
  promptVersionId: VERSION_ID,
  title: 'Haiku',
  slug: 'haiku',
};

const prompt = {
  promptId: PROMPT_ID,
  promptVersionId: VERSION_ID,
  title: 'Haiku',
  publishedAt: '2026-01-01T00:00:00Z',
  config: {},
};

const NOT_FOUND = failure(404, 'NOT_FOUND_ERROR', 'not here');

function createExchange(path: string, data: unknown): Exchange {
  return { expect: { path }, answer: success(data) };
}

const search = createExchange('/prompts/publish', { rows: [SEARCH_ROW] });

const versions = createExchange(`/prompts/${PROMPT_ID}/versions`, {
  promptId: PROMPT_ID,
  title: 'Haiku',
  versions: [{ promptVersionId: VERSION_ID }, { promptVersionId: OLDER_VERSION_ID }],
});

const createVersionExchange = (versionId: string, data: object): Exchange => ({
  expect: { path: `/prompts/${PROMPT_ID}`, query: { versionId } },
  answer: success(data),
});

describe('a prompt', () => {
  it('is found by its slug', async () => {
    const script = [search, createExchange(`/prompts/${PROMPT_ID}`, prompt)];
    const { stdout, exitCode } = await runWithScript(script, [
      'prompts',
      'get',
      'haiku',
      '--query',
      'title',
    ]);
    expect(stdout).toBe('Haiku\n');
    expect(exitCode).toBe(0);
  });

  it('is found in the version whose id begins as in its name', async () => {
    const script = [
      search,
      versions,
      createVersionExchange(OLDER_VERSION_ID, { ...prompt, promptVersionId: OLDER_VERSION_ID }),
    ];
    const { stdout } = await runWithScript(script, [
      'prompts',
      'get',
      'haiku@0b0c99',
      '--query',
      'promptVersionId',
    ]);
    expect(stdout).toBe(`${OLDER_VERSION_ID}\n`);
  });

  it.each([
    {
      name: 'haiku@ffff',
      code: EXIT.notFound,
      message: /^error: haiku has no version that begins with "ffff"/,
    },
    {
      name: 'haiku@',
      code: EXIT.notFound,
      message: /^error: haiku has no version that begins with ""/,
    },
    {
      name: 'haiku@0b0c',
      code: EXIT.usage,
      message: /^error: several versions of haiku begin with 0b0c/,
    },
  ])('is refused as $name', async ({ name, code, message }) => {
    const { stderr, exitCode } = await runWithScript([search, versions], ['run', name]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(code);
  });

  it('is run in the version of its name', async () => {
    const creation: Exchange = {
      expect: {
        method: 'POST',
        path: '/runs',
        body: { promptVersionId: OLDER_VERSION_ID, inputs: {} },
      },
      answer: success({ runId: RUN_ID, runStatus: 'succeeded', outputs: [], tokens: 0 }),
    };
    const { exitCode } = await runWithScript([search, versions, creation], ['run', 'haiku@0b0c99']);
    expect(exitCode).toBe(0);
  });

  it('may be the id of a version, whose prompt is looked up', async () => {
    const script = [
      { expect: { path: `/prompts/${VERSION_ID}/versions` }, answer: NOT_FOUND },
      createExchange(`/prompt-versions/${VERSION_ID}`, prompt),
      versions,
    ];
    const { stdout } = await runWithScript(script, [
      'versions',
      'list',
      VERSION_ID,
      '--query',
      '[].promptVersionId',
    ]);
    expect(JSON.parse(stdout)).toEqual([VERSION_ID, OLDER_VERSION_ID]);
  });

  it('may be a file', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'tea.prompt'), '---\ntitle: On tea\nmodel: echo\n---\nTea.\n');
    const { stdout } = await runInProcess(['prompts', 'get', 'tea.prompt', '--query', 'title'], {
      home,
      local: localService,
    });
    expect(stdout()).toBe('On tea\n');
  });
});

describe('commands of the embedded service', () => {
  it.each([
    [['keys', 'create']],
    [['users', 'list']],
    [['keys', 'list']],
    [['keys', 'revoke', 'x']],
    [['prompts', 'render', 'hello']],
    [['run', 'hello', '-m', 'echo']],
  ])('refuse %j if another service is configured, and name --profile local', async argv => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'x.prompt'), '---\nmodel: echo\n---\nTea.\n');
    const { stderr, stdout, exitCode } = await runWithScript([], argv, {
      home,
      local: localService,
    });

    expect(stderr).toMatch(
      /^error: .* the embedded service, but http.* is configured by PROMPTRUN_BASE_URL/,
    );
    expect(stderr).toContain('--profile local');
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.usage);

    const publishResult = await runWithScript(
      [],
      ['prompts', 'publish', 'x.prompt', '--profile', 'local'],
      {
        home,
        local: localService,
      },
    );
    expect(publishResult.exitCode).toBe(0);
  });
});

it("nothing of a prompt file is sent to a service that is not a promptrun's own", async () => {
  const home = createTemporaryDirectory();
  writeFileSync(path.join(home, 'x.prompt'), '---\nmodel: echo\n---\nTea.\n');

  const script = [{ expect: { method: 'GET', path: '/prompts' }, answer: NOT_FOUND }];
  for (const args of [['x.prompt'], ['--unpublish', 'x']]) {
    const options = { home, local: localService };
    const { stderr, exitCode } = await runWithScript(
      script,
      ['prompts', 'publish', ...args],
      options,
    );
    expect(stderr).toContain('--profile local');
    expect(exitCode).toBe(EXIT.usage);
  }
});

it("a run of a service that can't cancel runs is not cancelled", async () => {
  const cancellation = {
    expect: { method: 'POST', path: `/runs/${RUN_ID}/cancel` },
    answer: NOT_FOUND,
  };
  const lookup = { expect: { method: 'GET', path: `/runs/${RUN_ID}` }, answer: NOT_FOUND };
  const script = [
    lookup,
    cancellation,
    { expect: { method: 'GET', path: '/prompts' }, answer: NOT_FOUND },
  ];
  const { stderr, exitCode } = await runWithScript(script, ['runs', 'cancel', RUN_ID]);
  expect(stderr).toContain("can't cancel runs");
  expect(exitCode).toBe(EXIT.usage);
});

it('a run whose service does not keep its request is rerun from its manifest', async () => {
  const home = createTemporaryDirectory();
  const requestLookup = { expect: { path: `/runs/${RUN_ID}/request` }, answer: NOT_FOUND };

  expect((await runWithScript([requestLookup], ['runs', 'rerun', RUN_ID], { home })).exitCode).toBe(
    EXIT.notFound,
  );

  const manifest = {
    runId: RUN_ID,
    promptVersionId: VERSION_ID,
    textInputs: { name: 'Ada' },
    imageInputs: [],
    runOptions: {},
  };
  const write = (baseUrl: string): void =>
    writeFileSync(path.join(home, 'run.json'), JSON.stringify({ baseUrl, ...manifest }));
  write('https://other.example/v1');

  expect((await runWithScript([], ['runs', 'rerun', './run.json'], { home })).exitCode).toBe(
    EXIT.usage,
  );

  write('http://localhost/v1');
  const embedded = await runWithScript([], ['runs', 'rerun', './run.json'], { home });

  expect(embedded.stderr).toContain('is from the embedded service (profile local), but http');

  writeFileSync(path.join(home, 'run.json'), '{"runId":');
  expect((await runWithScript([], ['runs', 'rerun', './run.json'], { home })).exitCode).toBe(
    EXIT.usage,
  );
});

it('a typo in an input of a rerun, and a manifest whose version is not a UUID, create nothing', async () => {
  const home = createTemporaryDirectory();
  const request = {
    promptVersionId: VERSION_ID,
    inputs: { textInputs: { name: 'Ada' }, imageInputs: [] },
  };
  const config = { textInputs: { name: {} }, imageInputs: [] };
  const version = {
    promptVersionId: VERSION_ID,
    promptId: RUN_ID,
    title: 'x',
    publishedAt: '2026-05-01T00:00:00Z',
    config,
  };
  const script = [
    {
      expect: { path: `/runs/${RUN_ID}/request` },
      answer: success({ ...request, runOptions: {} }),
    },
    { expect: { path: `/prompt-versions/${VERSION_ID}` }, answer: success(version) },
  ];
  const typo = await runWithScript(script, ['runs', 'rerun', RUN_ID, '-i', 'nmae=Bob'], { home });

  expect(typo.stderr).toContain('did you mean name?');
  expect(typo.exitCode).toBe(EXIT.usage);

  for (const promptVersionId of ['hello', './x.prompt', 7]) {
    const manifest = {
      runId: RUN_ID,
      promptVersionId,
      textInputs: {},
      imageInputs: [],
      runOptions: {},
    };
    writeFileSync(
      path.join(home, 'run.json'),
      JSON.stringify({ baseUrl: 'https://other.example/v1', ...manifest }),
    );
    expect((await runWithScript([], ['runs', 'rerun', './run.json'], { home })).stderr).toContain(
      'is damaged',
    );
  }
});

describe('a prompt file', () => {
  const createFiles = (): string => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'x.prompt'), '---\nmodel: echo\n---\nTea.\n');
    writeFileSync(
      path.join(home, 'x.test.yaml'),
      'cases:\n  - name: tea\n    expect: [{ contains: Tea }]\n',
    );
    writeFileSync(path.join(home, 'rows.csv'), 'id\n1\n');

    return home;
  };

  const otherServiceEnv = { PROMPTRUN_BASE_URL: 'https://prompts.example/v1' };

  it.each([
    ['run x.prompt', /^Tea\.\n$/],
    ['prompts get x.prompt --query promptVersionId', /^[\da-f-]{36}\n$/],
    ['versions get x.prompt --query promptVersionId', /^[\da-f-]{36}\n$/],
    ['versions diff x.prompt', /^$/],
    ['batch x.prompt --from rows.csv', /"succeeded"/],
    ['compare x.prompt x.prompt --from rows.csv', /same/],
    ['test', /ok|passed/],
    ['prompts render x.prompt', /Tea\./],
    ['prompts check x.prompt', /^$/],
  ])(
    '%s runs it here with half a service configured, and publishes nothing',
    async (command, expected) => {
      const home = createFiles();
      for (const env of [otherServiceEnv, { PROMPTRUN_API_KEY: 'a-key' }]) {
        const { exitCode, stdout, stderr } = await runInProcess(command.split(' '), {
          home,
          env,
          local: localService,
        });
        expect(stdout(), stderr()).toMatch(expected);
        expect(exitCode, stderr()).toBe(0);
      }

      const list = await runInProcess(['prompts', 'list', '--query', '[].slug'], {
        home,
        local: localService,
      });
      expect(JSON.parse(list.stdout())).not.toContain('x');
    },
  );

  it('runs here with a note, and not on the configured service', async () => {
    const home = createFiles();
    const { stderr } = await runInProcess(['run', 'x.prompt'], {
      home,
      env: otherServiceEnv,
      local: localService,
    });

    expect(stderr()).toBe('note: runs here, not on prompts.example\n');

    const lookupThere = await runInProcess(['runs', 'get', '--last'], {
      home,
      env: otherServiceEnv,
      local: localService,
    });
    expect(lookupThere.exitCode).toBe(EXIT.unauthorised);
  });

  it.runIf(hasGit)('may be named as of a git revision', async () => {
    const home = createFiles();
    const runGitIn = (...args: string[]): unknown =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: home });
    runGitIn('init', '-q');
    runGitIn('add', '.');
    runGitIn('commit', '-qm', 'one');
    writeFileSync(path.join(home, 'x.prompt'), '---\nmodel: echo\n---\nCoffee.\n');
    const getStdout = async (...argv: string[]): Promise<string> =>
      (await runInProcess(argv, { home, local: localService })).stdout();

    expect(await getStdout('run', 'x.prompt@git:HEAD')).toBe('Tea.\n');
    expect(await getStdout('prompts', 'render', 'x.prompt@git:HEAD')).toContain('Tea.');
    expect(await getStdout('run', 'x.prompt')).toBe('Coffee.\n');
  });

  it('of another format is reported as such', async () => {
    const { exitCode, stderr } = await runInProcess(['run', 'rows.csv'], {
      home: createFiles(),
      local: localService,
    });
    expect(stderr()).toContain('rows.csv:1: this is a table (CSV), not a prompt file');
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('a run', () => {
  const run = {
    runId: RUN_ID,
    runStatus: 'succeeded',
    outputs: [{ type: 'text', data: 'hi' }],
    tokens: 1,
  };
  const list = createExchange('/runs', {
    rows: [run, { ...run, runId: OTHER_RUN_ID }],
    hasMore: false,
  });

  it('is found by a beginning of its id that no other of the newest has', async () => {
    const { stdout } = await runWithScript(
      [list, createExchange(`/runs/${RUN_ID}`, run)],
      ['runs', 'get', '5f0c8f0'],
    );
    expect(stdout).toBe('hi\n');
  });

  it.each([
    {
      name: '5f0c8f',
      code: EXIT.usage,
      message:
        /^error: several runs begin with 5f0c8f \(USAGE_ERROR\)\nGive more of the id: 5f0c8f0e-/,
    },
    { name: 'aaaaaa', code: EXIT.notFound, message: /^error: no run begins with aaaaaa / },
  ])('is refused as $name', async ({ name, code, message }) => {
    const { stderr, exitCode } = await runWithScript([list], ['runs', 'get', name]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(code);
  });

  it('is not searched for by less than six characters', async () => {
    expect((await runWithScript([], ['runs', 'get', '5f0c8'])).exitCode).toBe(EXIT.usage);
  });
});
