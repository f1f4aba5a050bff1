import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { chatAnswer } from '../support/providers/fake-provider.ts';
import { PaidModel } from '../support/providers/paid-model.ts';

const REFUSALS = [
  ['a bad key', { status: 401, body: { error: { message: 'Incorrect API key' } } }, 3],
  ['an account that may not', { status: 403, body: { error: { message: 'not yours' } } }, 3],
  ['an unpaid account', { status: 402, body: { error: { message: 'Insufficient Balance' } } }, 3],
  [
    'a used-up quota',
    {
      status: 429,
      body: {
        error: { message: 'no more', type: 'insufficient_quota', code: 'insufficient_quota' },
      },
    },
    7,
  ],
] as const;

const BAD_KEY = REFUSALS[0][1];

const BUSY = {
  status: 429,
  headers: { 'retry-after': '0' },
  body: { error: { message: 'slow down' } },
};

const model = new PaidModel({
  'rows.csv': `who\n${'Ada\n'.repeat(30)}`,
  'prompts/served.prompt': '---\nmodel: tiny\n---\nHi',
  'ask.test.yaml': `cases:\n${['a', 'b', 'c'].map(name => `  - {name: ${name}, inputs: {who: ${name}}, expect: [{contains: Once}]}\n`).join('')}`,
  'judged.test.yaml':
    'target: ./hello.prompt\ncases:\n  - {name: a, expect: [{rubric: polite}]}\n  - {name: b, expect: [{rubric: kind}]}\n',
  'hello.prompt': '---\nmodel: echo\n---\nHi',
  'closed.prompt': '---\nmodel: closed\ninput: {schema: {who: string}}\n---\nHi {{who}}',
});

/** Adds the model `closed`, at a port on which nobody listens, next to `tiny`. */
function addClosedModel(): void {
  model.write(
    'the-data/models.yaml',
    `models:
  - {model: tiny, modality: text, provider: here}
  - {model: closed, modality: text, provider: nowhere}
providers: {here: {baseUrl: "${model.provider.baseUrl}", apiKeyEnv: TINY_KEY}, nowhere: {baseUrl: "http://127.0.0.1:9/v1"}}
`,
  );
}

const BATCH = [
  'batch',
  './ask.prompt',
  '--from',
  'rows.csv',
  '--out',
  'r.jsonl',
  '--concurrency',
  '1',
];

const COMPARE = [
  'compare',
  './ask.prompt',
  './ask.prompt',
  '--from',
  'rows.csv',
  '--concurrency',
  '1',
];

const readResults = (): string => readFileSync(path.join(model.home, 'r.jsonl'), 'utf8');

describe('a provider that refuses', () => {
  it.each(REFUSALS)(
    '%s decides the exit code of the command that made the run',
    async (_, answer, code) => {
      model.provider.reset(answer);
      const ran = await model.command(['run', './ask.prompt', '-i', 'who=Ada', '--json']);

      expect(ran).toMatchObject({
        code,
        stdout: expect.stringContaining('"runStatus": "failed"') as string,
      });
      expect((await model.command(['runs', 'get', '--last'])).code).toBe(EXIT.runFailed);
      expect((await model.command(['runs', 'show', '--last'])).code).toBe(0);
      expect((await model.command(['runs', 'rerun', '--last'])).code).toBe(code);
      expect(model.requestCount()).toBe(2);
    },
  );

  it.each(REFUSALS)(
    '%s ends a batch, which reports it once, and --resume runs every row',
    async (_, answer, code) => {
      model.provider.reset(answer);
      const ran = await model.command(BATCH);

      expect(ran).toMatchObject({ code, stdout: '' });
      expect(model.requestCount()).toBe(1);
      expect(ran.stderr.match(new RegExp(answer.body.error.message, 'gu'))).toHaveLength(1);
      expect(ran.stderr).toMatch(/^error: .*; 30 rows left \(/mu);
      expect(ran.stderr).toContain('--resume');
      expect(readResults()).toBe('');

      model.provider.reset(chatAnswer('Once'));
      expect(await model.command([...BATCH, '--resume'])).toMatchObject({ code: 0 });
      expect(model.requestCount()).toBe(30);
      expect(readResults().trimEnd().split('\n')).toHaveLength(30);
      expect(existsSync(path.join(model.home, 'r.jsonl.journal'))).toBe(false);
    },
  );

  it('lets running requests end, and keeps what is done', async () => {
    model.provider.reset(response => void model.open.push(response), BAD_KEY);
    const running = model.start([...BATCH.slice(0, -1), '2']);
    const journal = path.join(model.home, 'r.jsonl.journal');
    const isRefused = (): boolean =>
      existsSync(journal) && readFileSync(journal, 'utf8').includes('waiting');

    await expect.poll(isRefused).toBe(true);

    model.answerAll();
    const ran = await running.ended;

    expect(ran).toMatchObject({
      code: EXIT.unauthorised,
      stderr: expect.stringContaining('29 rows left') as string,
    });
    expect(model.requestCount()).toBe(2);
    expect(readResults().match(/"runStatus":"succeeded"/gu)).toHaveLength(1);

    model.provider.reset(chatAnswer('Once'));
    expect((await model.command([...BATCH, '--resume'])).code).toBe(0);
    expect(model.requestCount()).toBe(29);
  });

  it('makes an error of a test case, not a failure, and --resume runs it', async () => {
    model.provider.reset(BAD_KEY);
    const test = ['test', 'ask.test.yaml', '--concurrency', '1'];
    const ran = await model.command([...test, '--reporter', 'junit']);

    expect(ran).toMatchObject({ code: EXIT.unauthorised });
    expect(ran.stdout).toContain('failures="0" errors="3"');
    expect(ran.stderr).toMatch(/^error: .*Incorrect API key.*; 3 cases left/mu);
    expect(model.requestCount()).toBe(1);

    model.provider.reset(chatAnswer('Once'));
    expect((await model.command([...test, '--resume'])).code).toBe(0);
    expect(model.requestCount()).toBe(3);
  });

  it('its judge ends a test as well', async () => {
    model.provider.reset(BAD_KEY);
    const test = ['test', 'judged.test.yaml', '--concurrency', '1', '--judge', 'tiny'];
    const ran = await model.command(test);

    expect(ran).toMatchObject({
      code: EXIT.unauthorised,
      stderr: expect.stringContaining('2 cases left') as string,
    });

    model.provider.reset(chatAnswer('Yes.'));
    expect((await model.command([...test, '--resume'])).code).toBe(0);
  });

  it('ends a comparison', async () => {
    model.provider.reset(BAD_KEY);
    const ran = await model.command(COMPARE);

    expect(ran).toMatchObject({
      code: EXIT.unauthorised,
      stderr: expect.stringContaining('30 rows left') as string,
    });
    expect(ran.stdout.trimEnd().split('\n')).toHaveLength(30);
    expect(ran.stderr.match(/Incorrect API key/gu)).toHaveLength(1);
    expect(model.requestCount()).toBe(1);
  });

  it('is a failed run to a client of serve', async () => {
    await model.serve();
    model.provider.reset(BAD_KEY);
    expect((await model.command(['run', 'served'])).code).toBe(EXIT.runFailed);
  });

  it('says so in a recording, too', async () => {
    model.provider.reset(BAD_KEY);
    const run = ['run', './ask.prompt', '-i', 'who=Ada'];
    expect((await model.command([...run, '--record', 'kept'])).code).toBe(EXIT.unauthorised);
    expect((await model.command([...run, '--replay', 'kept'])).code).toBe(EXIT.unauthorised);
    expect(model.requestCount()).toBe(1);
  });

  it('names the variable of the key', async () => {
    addClosedModel();
    model.env['TINY_KEY'] = 'sk-1234567890';
    for (const [status, what] of [
      [401, 'it refuses the key in TINY_KEY'],
      [403, 'the key in TINY_KEY may not use this model'],
    ] as const) {
      model.provider.reset({ status, body: { error: { message: 'no' } } });
      const ran = await model.command(['run', './ask.prompt', '-i', 'who=Ada']);
      expect(ran).toMatchObject({
        code: EXIT.unauthorised,
        stderr: expect.stringContaining(what) as string,
      });
      expect(ran.stderr).not.toContain('sk-1234567890');
    }
  });
});

describe('a busy provider', () => {
  it('is exit 7 after all retries', async () => {
    model.provider.reset(BUSY);
    expect((await model.command(['run', './ask.prompt', '-i', 'who=Ada'])).code).toBe(
      EXIT.rateLimited,
    );
    expect((await model.command(['runs', 'get', '--last'])).code).toBe(EXIT.runFailed);
  });

  it('makes a test case one that could not be run, and fails a row of a batch', async () => {
    model.provider.reset(BUSY, BUSY, BUSY, BUSY, chatAnswer('Once'));
    expect((await model.command(['test', 'ask.test.yaml', '--concurrency', '1'])).code).toBe(
      EXIT.rateLimited,
    );
    model.provider.reset(BUSY, BUSY, BUSY, BUSY, chatAnswer('Once'));
    expect((await model.command(BATCH)).code).toBe(EXIT.runFailed);
    expect(readResults().match(/"runStatus":"failed"/gu)).toHaveLength(1);
  });
});

describe('a provider that cannot be reached', () => {
  it('is exit 1', async () => {
    addClosedModel();
    const ran = await model.command(['run', './closed.prompt', '-i', 'who=Ada']);
    expect(ran).toMatchObject({
      code: EXIT.fault,
      stderr: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect((await model.command(['runs', 'get', '--last'])).code).toBe(EXIT.runFailed);
  });

  it('ends a batch at the tenth creation in a row', async () => {
    addClosedModel();
    const ran = await model.command(BATCH.with(1, './closed.prompt'));

    expect(ran).toMatchObject({
      code: EXIT.fault,
      stderr: expect.stringContaining('30 rows left') as string,
    });
    expect(ran.stderr.match(/ECONNREFUSED/gu)).toHaveLength(1);

    const journal = readFileSync(path.join(model.home, 'r.jsonl.journal'), 'utf8');
    expect(journal.match(/"state":"creating"/gu)).toHaveLength(10);
    expect(readResults()).toBe('');
  });
});

describe('a provider that drops every connection', () => {
  const drop = (response: { destroy(): void }): void => response.destroy();

  it.each([
    ['a batch', BATCH],
    ['a test', ['test', 'ask.test.yaml']],
    ['a comparison', COMPARE],
  ])('is exit 1 of %s: no request was answered', async (_, command) => {
    model.provider.reset(drop);
    const ran = await model.command(command);
    expect(ran).toMatchObject({
      code: EXIT.fault,
      stderr: expect.stringContaining('no request was answered') as string,
    });
  });

  it('fails only its row if another one is answered, and no row is asked again unasked', async () => {
    model.provider.reset(drop, chatAnswer('Once'));
    expect((await model.command(BATCH)).code).toBe(EXIT.runFailed);
    expect((await model.command([...BATCH, '--resume'])).code).toBe(EXIT.runFailed);
    expect(model.requestCount()).toBe(30);
    expect(readResults().match(/"runStatus":"failed"/gu)).toHaveLength(1);
  });
});
