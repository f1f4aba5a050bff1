import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../support/certificates/loopback-certificate.ts';
import { createTemporaryDirectory, runInProcess, TEST_NOW } from '../../support/context.ts';
import { runWithScript } from '../../support/run-with-script.ts';
import {
  type Exchange,
  failure,
  html,
  startScriptedServiceForTest,
  success,
} from '../../support/scripted-service.ts';

const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const RUN = '5f0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';

function row(seconds: number): object {
  const createdAt = new Date(TEST_NOW + seconds * 1000).toISOString();
  const runId = `${String(100 + seconds).padStart(8, '0')}${RUN.slice(8)}`;
  return {
    runId,
    promptVersionId: VERSION,
    outputs: [],
    runStatus: 'succeeded',
    credits: 1,
    createdAt,
  };
}

describe('an error of a service, or of something in front of it', () => {
  it.each([
    { http: 401, code: EXIT.unauthorised, status: 'UNAUTHORIZED_ERROR' },
    { http: 403, code: EXIT.unauthorised, status: 'FORBIDDEN_ERROR' },
    { http: 502, code: EXIT.fault, status: 'PROTOCOL_ERROR' },
  ])(
    'exits for a page with HTTP $http with $code, and never shows the page',
    async ({ http, code, status }) => {
      const page = html(http, '<!doctype html><h1>secret words</h1>');
      for (const flags of [[], ['--json']]) {
        const { exitCode, stderr } = await runWithScript(
          [{ answer: page, times: 'any' }],
          ['account', ...flags],
        );
        expect(stderr).toContain(status);
        expect(exitCode).toBe(code);
        expect(stderr).not.toMatch(/<|secret words/);
      }
    },
  );

  it('explains HTTP 413 of a gateway, and says what to send instead', async () => {
    const { exitCode, stderr } = await runWithScript([{ answer: html(413) }], ['run', VERSION]);
    expect(exitCode).toBe(EXIT.fault);
    expect(stderr).toMatch(/gateway.*\(PROTOCOL_ERROR\)\nSend smaller images/);
  });

  it('shows at most ten lines of details, with control characters escaped', async () => {
    const errors = Array.from({ length: 20 }, (_, index) => `wrong \u001b[31m${index}`);
    const answer = failure(422, 'VALIDATION_ERROR', 'bad', { errors });
    const { stderr } = await runWithScript([{ answer }], ['api', 'GET', '/x']);
    expect(stderr).toContain('wrong \\u001b[31m0');
    expect(stderr).not.toContain('\u001b');
    expect(stderr.trimEnd().split('\n')).toHaveLength(11);
  });

  it('shortens details that are one very long line', async () => {
    const answer = failure(422, 'VALIDATION_ERROR', 'bad', 'x'.repeat(1_000_000));
    const { stderr } = await runWithScript([{ answer }], ['api', 'GET', '/x']);
    expect(stderr).toContain('xxx…\n');
    expect(stderr.length).toBeLessThan(2000);
  });

  it("shows for a refused run the details and the command that shows the target's inputs", async () => {
    const errors = [{ path: 'inputs.textInputs.nmae', message: 'unknown input' }];
    const answer = failure(422, 'VALIDATION_ERROR', 'invalid inputs', { errors });
    const { exitCode, stderr } = await runWithScript(
      [{ answer }],
      ['run', VERSION, '-i', 'nmae=Ada'],
    );

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toContain('unknown input');
    expect(stderr).toContain(`Show its inputs with: promptrun prompts get ${VERSION}`);
  });

  it('shows the details of the error for an id that is neither a version nor a prompt', async () => {
    const gone = failure(404, 'NOT_FOUND_ERROR', 'no such version', { moved: 'to the archive' });
    const none = failure(404, 'NOT_FOUND_ERROR', 'no such prompt');
    const script = [
      { expect: { method: 'POST', path: '/runs' }, answer: gone },
      { expect: { method: 'GET' }, answer: none },
    ];
    const { exitCode, stderr } = await runWithScript(script, ['run', VERSION, '--no-validate']);

    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr).toContain(`no published prompt or prompt version has the id ${VERSION}`);
    expect(stderr).toContain('"moved": "to the archive"');
  });

  it('says only "more than a day" for a very long retry-after', async () => {
    const answer = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'no', null, {
      'retry-after': '9'.repeat(20),
    });
    const { exitCode, stderr } = await runWithScript([{ answer }], ['api', 'GET', '/x']);
    expect(stderr).toContain('Try again in more than a day.');
    expect(exitCode).toBe(EXIT.rateLimited);
  });
});

describe('a key that is refused', () => {
  const refused: Exchange = { answer: failure(401, 'UNAUTHORIZED_ERROR', 'no'), times: 'any' };

  it('names the source of the refused key', async () => {
    const service = await startScriptedServiceForTest(
      { expect: { path: '/resources' }, answer: success({ hash: 'h', resources: { models: [] } }) },
      refused,
    );
    const home = createTemporaryDirectory();
    const { baseUrl } = service;
    const runLine = async (argv: string[], more: object = {}): Promise<string> =>
      (await runInProcess(argv, { home, ...more })).stderr();
    await runLine(['profile', 'add', 'work', '--base-url', baseUrl]);
    await runLine(['login', '--profile', 'work', '--no-keychain'], { stdin: 'stored-key' });

    expect(await runLine(['api', 'GET', '/me', '--profile', 'work'])).toContain(
      'The key of profile work was refused. Store another one with: promptrun login --profile work\n',
    );

    const env = { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: 'other-key' };
    expect(await runLine(['api', 'GET', '/me'], { env })).toContain(
      'The key in PROMPTRUN_API_KEY was refused',
    );
  });
});

it('notes an unknown run status once and keeps waiting', async () => {
  const going = { runId: RUN, runStatus: 'frozen', outputs: [], tokens: 0 };
  const { exitCode, stderr, stdout } = await runWithScript(
    [
      { expect: { path: `/runs/${RUN}` }, answer: success(going), times: 2 },
      {
        answer: success({
          ...going,
          runStatus: 'succeeded',
          outputs: [{ type: 'text', data: 'hi' }],
        }),
      },
    ],
    ['runs', 'wait', RUN],
  );
  expect(stdout).toBe('hi\n');
  expect(exitCode).toBe(0);
  expect(stderr).toBe(`note: run ${RUN} has unknown status "frozen"; still waiting\n`);
});

it('shows the options of the models after a refused option', async () => {
  const message = 'runOptions.x is not a run option of the model m';
  const { exitCode, stderr } = await runWithScript(
    [{ expect: { method: 'POST' }, answer: failure(422, 'VALIDATION_ERROR', message) }],
    ['run', VERSION, '-o', 'x=1', '--no-validate'],
  );
  expect(stderr).toBe(
    `error: ${message} (VALIDATION_ERROR)\nList the options of each model with: promptrun resources list\n`,
  );
  expect(exitCode).toBe(EXIT.usage);
});

it('notes an unknown status that the creation already returns', async () => {
  const going = { runId: RUN, runStatus: 'frozen', outputs: [], tokens: 0 };
  const { exitCode, stderr } = await runWithScript(
    [
      { expect: { method: 'POST', path: '/runs' }, answer: success(going) },
      { expect: { path: `/runs/${RUN}` }, answer: success(going) },
      {
        answer: success({
          ...going,
          runStatus: 'succeeded',
          outputs: [{ type: 'text', data: 'hi' }],
        }),
      },
    ],
    ['run', VERSION],
  );
  expect(stderr).toBe(`note: run ${RUN} has unknown status "frozen"; still waiting\n`);
  expect(exitCode).toBe(0);
});

it('lists no rows outside of --since and --until, and reads no further than the first older one', async () => {
  const page = { rows: [row(30), row(20), row(10), row(-10)], hasMore: true };
  const script = [{ expect: { path: '/runs' }, answer: success(page) }];
  const since = String(TEST_NOW / 1000);
  const until = String(TEST_NOW / 1000 + 25);
  const argv = `runs list --all --since ${since} --until ${until} --query [].createdAt`.split(' ');
  const { exitCode, stdout } = await runWithScript(script, argv);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual(
    [20, 10].map(s => new Date(TEST_NOW + s * 1000).toISOString()),
  );
});

it('lists the other models if one is malformed', async () => {
  const models = [{ model: 7 }, null, { model: 'm', modality: 'text', availableRunOptions: [] }];
  const script = [{ answer: success({ hash: 'h', resources: { models } }) }];
  const { exitCode, stdout } = await runWithScript(script, ['resources', 'list']);
  expect(stdout).toBe('m\ttext\t\n');
  expect(exitCode).toBe(0);
});

describe('--debug', () => {
  it.each([
    ['--debug', false],
    ['--debug=body', true],
  ])('%s shows only selected headers, and never the key', async (flag, showsBodies) => {
    const answer = success(
      {
        runId: RUN,
        runStatus: 'succeeded',
        outputs: [{ type: 'text', data: 'the-key-1234' }],
        tokens: 0,
      },
      { idempotency: 'supported', 'ratelimit-policy': '"default";q=5;w=1', 'x-other': 'y' },
    );
    const { stderr } = await runWithScript([{ answer }], ['run', VERSION, flag], {
      env: { PROMPTRUN_API_KEY: 'the-key-1234' },
    });

    expect(stderr).toMatch(/debug: {3}idempotency-key: [\da-f-]{36}\n/);
    expect(stderr).toContain('debug:   idempotency: supported\n');
    expect(stderr).toContain('debug:   ratelimit-policy: "default";q=5;w=1\n');
    expect(stderr).not.toContain('x-other');
    expect(stderr.includes(`{"promptVersionId":"${VERSION}"`)).toBe(showsBodies);
    expect(stderr.includes('"data":"[key]"')).toBe(showsBodies);
    expect(stderr).not.toContain('the-key-1234');
  });
});

it.each([
  [['run', VERSION], 'stderr'],
  [['doctor'], 'stdout'],
])(
  'connects once to a server with an untrusted certificate, and names NODE_EXTRA_CA_CERTS: %j',
  async (argv, stream) => {
    let connections = 0;
    const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY });
    server.on('connection', () => (connections += 1));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}/v1`;
    const env = { PROMPTRUN_BASE_URL: baseUrl, PROMPTRUN_API_KEY: 'a-key' };
    const ended = await runInProcess(argv, { env });
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));

    expect(connections).toBe(1);
    expect(ended.exitCode).toBe(EXIT.fault);
    expect(ended[stream as 'stdout']()).toMatch(
      /certificate is not trusted \(\w+\).*NODE_EXTRA_CA_CERTS/,
    );
  },
);
