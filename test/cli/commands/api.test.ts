import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { runWithScript } from '../../support/run-with-script.ts';
import { type Exchange, failure, html, success } from '../../support/scripted-service.ts';

const VERSION = '0b0c8f0e-4f0e-4c39-9b8e-7d0a2c7f1a55';
const RUN = '9d9e5f04-92b8-4f0a-a3ac-2a24c0a1e2f3';
const ENDED = { runId: RUN, outputs: [], runStatus: 'succeeded', tokens: 1 };

function get(pathname: string, query: Record<string, string | null> = {}): Exchange {
  return { expect: { method: 'GET', path: pathname, query }, answer: success({ n: 1 }) };
}

function readJournal(home: string): string {
  return readFileSync(path.join(home, 'state/journal.jsonl'), 'utf8');
}

describe('the answer of api', () => {
  it('prints the answer byte for byte', async () => {
    const body = '{ "status" : "SUCCESS",\n  "data": {"big": 12345678901234567890} }';
    const { stdout, exitCode } = await runWithScript(
      [{ answer: { body } }],
      ['api', 'GET', '/anything'],
    );
    expect(stdout).toBe(`${body}\n`);
    expect(exitCode).toBe(0);
  });

  it.each([
    { status: 400, code: 'BAD_REQUEST_ERROR', expectedExitCode: 2 },
    { status: 401, code: 'UNAUTHORIZED_ERROR', expectedExitCode: 3 },
    { status: 402, code: 'PAYMENT_REQUIRED_ERROR', expectedExitCode: 3 },
    { status: 404, code: 'NOT_FOUND_ERROR', expectedExitCode: 4 },
    { status: 410, code: 'GONE_ERROR', expectedExitCode: 4 },
    { status: 422, code: 'VALIDATION_ERROR', expectedExitCode: 2 },
    { status: 418, code: 'TEAPOT_ERROR', expectedExitCode: 2 },
  ])(
    'prints the answer of HTTP $status $code too, and exits with $expectedExitCode',
    async ({ status, code, expectedExitCode }) => {
      const answer = failure(status, code, 'no', { field: 'x' });
      const { stdout, stderr, exitCode } = await runWithScript([{ answer }], ['api', 'get', '/x']);
      expect(JSON.parse(stdout)).toEqual({ status: code, message: 'no', data: { field: 'x' } });
      expect(stderr).toMatch(new RegExp(`^error: no \\(${code}\\)\n`, 'u'));
      expect(exitCode).toBe(expectedExitCode);
    },
  );

  it('exits with 1 if the answer is not an envelope', async () => {
    const { stdout, exitCode } = await runWithScript([{ answer: html(200) }], ['api', 'GET', '/x']);
    expect(stdout).toBe('');
    expect(exitCode).toBe(EXIT.fault);
  });

  it('prints status and headers before the answer with --include', async () => {
    const { stdout } = await runWithScript(
      [{ answer: success(1, { 'x-a': 'b' }) }],
      ['api', 'GET', '/x', '--include'],
    );
    expect(stdout).toMatch(/^HTTP\/1\.1 200\n(?:[^\n]+\n)*x-a: b\n(?:[^\n]+\n)*\n\{"status"/u);
  });

  it('applies --query to the whole envelope', async () => {
    expect(
      (await runWithScript([get('/x')], ['api', 'GET', '/x', '--query', 'data.n'])).stdout,
    ).toBe('1\n');
  });

  it('escapes control characters on a terminal', async () => {
    const answer = success('\u009b2J');
    const { stdout } = await runWithScript([{ answer }], ['api', 'GET', '/x'], {
      terminal: { stdout: true },
    });
    expect(stdout).not.toContain('\u009b');
  });
});

describe('the path of api', () => {
  it.each(['runs', '/runs', '/v1/runs', 'v1/runs'])('accepts the path %s', async target => {
    await runWithScript([get('/runs')], ['api', 'GET', target]);
  });

  it('adds fields to a query in the path', async () => {
    const args = ['api', 'GET', '/runs?limit=5', '-f', 'status=failed', '--field', 'x=a b&c=d'];
    await runWithScript([get('/runs', { limit: '5', status: 'failed', x: 'a b&c=d' })], args);
  });

  it('accepts a whole URL only below the base URL', async () => {
    await runWithScript([get('/runs')], baseUrl => ['api', 'GET', `${baseUrl}/runs`]);
    const { stderr, exitCode } = await runWithScript(
      [],
      ['api', 'GET', 'https://evil.example/v1/runs'],
    );
    expect(stderr).toContain('is not below http://127.0.0.1');
    expect(exitCode).toBe(EXIT.usage);
  });

  it.each([
    'http://127.0.0.1.evil.example/v1/runs',
    '//evil.example/runs',
    '/../admin',
    '/runs/%2e%2e/%2e%2e/admin',
    '/runs/.%2E/x',
    '\\\\evil.example\\x',
    '/runs#part',
    '/.\n./x',
    'file:///etc/passwd',
  ])('refuses %j, which leads outside the base URL', async target => {
    expect((await runWithScript([], ['api', 'GET', target])).exitCode).toBe(EXIT.usage);
  });

  it('encodes the path where necessary', async () => {
    await runWithScript([get('/prompts/%C3%BC%20x')], ['api', 'GET', '/prompts/ü x']);
  });
});

describe('the body of api', () => {
  it('builds the body from fields, nested ones too', async () => {
    const body = { a: '1', b: { c: '2', d: { e: '=3' } } };
    const fields = ['-f', 'a=1', '-f', 'b[c]=2', '-f', 'b[d][e]==3'];
    await runWithScript(
      [{ expect: { method: 'POST', path: '/x', body }, answer: success(1) }],
      ['api', 'POST', '/x', ...fields],
    );
  });

  it('sends a field called __proto__ like any other', async () => {
    const body = (requestBody: unknown): boolean =>
      JSON.stringify(requestBody) === '{"__proto__":{"x":"1"}}';
    await runWithScript(
      [{ expect: { body }, answer: success(1) }],
      ['api', 'PUT', '/x', '-f', '__proto__[x]=1'],
    );
  });

  it('sends a file or standard input byte for byte', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'body.json'), '{ "a":\n1 }');
    const echoBody = (call: { bytes: Buffer }): ReturnType<typeof success> =>
      success(call.bytes.toString('utf8'));
    const file = await runWithScript(
      [{ answer: echoBody }],
      ['api', 'POST', '/x', '--input', 'body.json'],
      {
        home,
      },
    );

    expect(file.stdout).toContain(String.raw`{ \"a\":\n1 }`);

    const stdin = await runWithScript(
      [{ answer: echoBody }],
      ['api', 'PATCH', '/x', '--input', '-'],
      {
        stdin: 'no JSON',
      },
    );
    expect(stdin.stdout).toContain('no JSON');
  });

  it.each([
    [['GET', '/x', '--input', 'body.json']],
    [['POST', '/x', '--input', '-', '-f', 'a=1']],
    [['POST', '/x', '--input', 'missing.json']],
    [['POST', '/x', '-f', 'no pair']],
    [['POST', '/x', '-f', 'a=1', '-f', 'a=2']],
    [['POST', '/x', '-f', 'a[=1']],
    [['POST', '/x', '--paginate']],
    [['FETCH', '/x']],
  ])('refuses %j before anything is sent', async args => {
    expect((await runWithScript([], ['api', ...args], { stdin: '{}' })).exitCode).toBe(EXIT.usage);
  });
});

describe('--paginate', () => {
  const rows = (...ids: string[]): { runId: string }[] => ids.map(runId => ({ runId }));

  const page = (
    query: Record<string, string | null>,
    ids: string[],
    hasMore: boolean,
  ): Exchange => ({
    expect: { path: '/runs', query },
    answer: success({ rows: rows(...ids), hasMore }),
  });

  it('prints one envelope per page, to the end', async () => {
    const { stdout } = await runWithScript(
      [
        page({ limit: '2', startingAfter: null }, ['a', 'b'], true),
        page({ limit: '2', startingAfter: 'b' }, ['c'], false),
      ],
      ['api', 'GET', '/runs', '-f', 'limit=2', '--paginate'],
    );
    const pages = stdout.trimEnd().split('\n');
    expect(pages.map(text => (JSON.parse(text) as { status: string }).status)).toEqual([
      'SUCCESS',
      'SUCCESS',
    ]);
  });

  it('pages backwards if it began backwards', async () => {
    await runWithScript(
      [page({ endingBefore: 'z' }, ['x', 'y'], true), page({ endingBefore: 'x' }, ['w'], false)],
      ['api', 'GET', '/runs?endingBefore=z', '--paginate'],
    );
  });

  it('fetches all pages of prompts', async () => {
    const rows = ['first', 'second'].map(promptId => ({ promptId, slug: promptId }));
    const { stdout } = await runWithScript(
      [
        {
          expect: { path: '/prompts', query: { startingAfter: null } },
          answer: success({ rows: rows.slice(0, 1), hasMore: true }),
        },
        {
          expect: { path: '/prompts', query: { startingAfter: 'first' } },
          answer: success({ rows: rows.slice(1), hasMore: false }),
        },
      ],
      ['api', 'GET', '/prompts', '--paginate', '--query', 'data.rows[].slug | [0]'],
    );
    expect(stdout).toBe('first\nsecond\n');
  });

  it('exits with 1 if an earlier page comes back', async () => {
    const { exitCode, stderr } = await runWithScript(
      ['a', 'b', 'a'].map(id => page({}, [id], true)),
      ['api', 'GET', '/runs', '--paginate'],
    );
    expect(exitCode).toBe(EXIT.fault);
    expect(stderr).toContain('again and again');
  });

  it('stops at a repeated page, at an error, and if the reader has closed the output', async () => {
    const again = page({}, ['a'], true);
    await runWithScript([again, page({}, ['a'], true)], ['api', 'GET', '/runs', '--paginate']);
    const error: Exchange = { answer: failure(404, 'NOT_FOUND_ERROR', 'gone') };

    expect(
      (await runWithScript([again, error], ['api', 'GET', '/runs', '--paginate'])).exitCode,
    ).toBe(EXIT.notFound);
    expect(
      (await runWithScript([again], ['api', 'GET', '/runs', '--paginate'], { readerTakes: 5 }))
        .exitCode,
    ).toBe(0);
  });
});

describe('a creation by api', () => {
  const create = ['api', 'POST', '/runs', '-f', `promptVersionId=${VERSION}`];

  it('writes the creation and its run to the journal', async () => {
    const script = [{ expect: { method: 'POST', path: '/runs' }, answer: success(ENDED) }];
    const { home } = await runWithScript(script, create);
    const lines = readJournal(home)
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as object);
    expect(lines).toEqual([
      expect.objectContaining({ promptVersionId: VERSION }),
      expect.objectContaining({ outcome: 'ended', runId: RUN, runStatus: 'succeeded' }),
    ]);
  });

  it('reports the run that continues after the answer', async () => {
    const answer = failure(504, 'GATEWAY_TIMEOUT_ERROR', 'not finished', { runId: RUN });
    const { stdout, home, exitCode } = await runWithScript([{ answer }], create);
    expect(stdout).toContain(RUN);
    expect(readJournal(home)).toContain(`"outcome":"created","runId":"${RUN}"`);
    expect(exitCode).not.toBe(0);
  });

  it('never sends a creation twice, and names the runs that it may have made', async () => {
    const row = {
      ...ENDED,
      promptVersionId: VERSION,
      createdAt: new Date(Date.now() + 1000).toISOString(),
      runName: '',
      credits: 1,
    };

    const script: Exchange[] = [
      { expect: { method: 'POST' }, answer: 'reset-after-body' },
      {
        expect: { method: 'GET', path: '/runs' },
        answer: success({ rows: [row], hasMore: false }),
        times: 'any',
      },
    ];
    const { stderr, exitCode, service, home } = await runWithScript(script, create);

    expect(service.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(stderr).toContain(RUN);
    expect(readJournal(home)).toContain('"outcome":"lost"');
    expect(exitCode).toBe(EXIT.fault);
  });

  it('records a refused creation as refused', async () => {
    const { home } = await runWithScript(
      [{ answer: failure(422, 'VALIDATION_ERROR', 'no') }],
      create,
    );
    expect(readJournal(home)).toContain('"outcome":"refused"');
  });
});

it('refuses to replay api', async () => {
  const { stdout, stderr, exitCode } = await runWithScript(
    [],
    ['api', 'GET', '/runs', '--replay', 'recordings'],
  );
  expect(stdout).toBe('');
  expect(exitCode).toBe(EXIT.usage);
  expect(stderr).toContain("api can't be replayed");
});
