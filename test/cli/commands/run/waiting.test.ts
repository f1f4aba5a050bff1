import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/cli/core/clock.ts';
import type { Run } from '../../../../src/wire/index.ts';
import { TEST_NOW, temporaryDirectory, testClock } from '../../../support/context.ts';
import {
  type Exchange,
  failure,
  html,
  type PlainAnswer,
  scriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import {
  creation,
  OTHER_RUN,
  PROMPT,
  RUN,
  runAgainst,
  startAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from './run-against-service.ts';

const stillRunning: Exchange = {
  expect: { method: 'POST', path: '/runs' },
  answer: failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: RUN }),
};
const poll = (run: Partial<Run>): Exchange => ({
  expect: { path: `/runs/${RUN}` },
  answer: success(succeededRun(run)),
});
const running = poll({ runStatus: 'running', outputs: [], tokens: 0 });
const noSuchRun: Exchange = {
  expect: { path: `/runs/${RUN}` },
  answer: failure(404, 'NOT_FOUND_ERROR', 'gone'),
};
/** Returns a poll that is answered until the time is over. */
const outlasting = (runOut: () => void): Exchange => ({
  expect: { path: `/runs/${RUN}` },
  times: 'any',
  answer: () => {
    runOut();
    return success(succeededRun({ runStatus: 'queued', outputs: [] }));
  },
});
const unanswered = (answer: Exchange['answer']): Exchange => ({
  expect: { method: 'POST', path: '/runs' },
  answer,
});

/** Returns an answer of a service whose clock shows this time. */
const answerDated = (time: number, answer: PlainAnswer): PlainAnswer => ({
  ...answer,
  headers: { ...answer.headers, date: new Date(time).toUTCString() },
});
const silentUntil = (runOut: () => void): Exchange =>
  unanswered(() => {
    runOut();
    return 'silence';
  });
const row = (runId: string, more: object = {}): object => ({
  runId,
  promptVersionId: VERSION,
  outputs: [],
  runStatus: 'running',
  credits: null,
  runName: 'x',
  createdAt: new Date(TEST_NOW + 1000).toISOString(),
  ...more,
});
const list = (...rows: object[]): Exchange => ({
  expect: { method: 'GET', path: '/runs' },
  answer: answerDated(TEST_NOW, success({ rows, hasMore: false })),
});

const EXCLUSIVE = { env: { PROMPTRUN_EXCLUSIVE_KEY: '1' } };
const RUN_IT = ['run', VERSION, '-i', 'name=Ada'];
const readJournal = (home: string): unknown[] =>
  readFileSync(path.join(home, 'state', 'journal.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as unknown);

describe('a run that takes long', () => {
  it('is polled to its end, through passing faults', async () => {
    const service = await scriptedServiceForTest(
      stillRunning,
      running,
      { expect: { path: `/runs/${RUN}` }, answer: failure(500, 'SERVER_ERROR', 'oops') },
      { expect: { path: `/runs/${RUN}` }, answer: 'reset-after-body' },
      { expect: { path: `/runs/${RUN}` }, answer: html(502) },
      { expect: { path: `/runs/${RUN}` }, answer: failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down') },
      poll({ outputs: [textOutput('done')] }),
    );
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT);
    expect({ exitCode, stdout: stdout(), stderr: stderr() }).toEqual({
      exitCode: 0,
      stdout: 'done\n',
      stderr: '',
    });
  });

  it('is not waited for any longer on 401, and is named', async () => {
    const service = await scriptedServiceForTest(stillRunning, {
      expect: { path: `/runs/${RUN}` },
      answer: failure(401, 'UNAUTHORIZED_ERROR', 'no'),
    });
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
  });

  it("is requested for a minute if the service doesn't know the id that it returned", async () => {
    const gone = { ...noSuchRun };
    const service = await scriptedServiceForTest(
      stillRunning,
      gone,
      { ...gone },
      poll({}),
      { ...stillRunning },
      { ...gone, times: 'any' },
    );
    expect((await runAgainst(service, RUN_IT)).exitCode).toBe(0);
    const clock = testClock();
    const { exitCode, stdout } = await runAgainst(service, RUN_IT, { clock });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 4, stdout: '' });
    expect(clock.now() - TEST_NOW).toBeGreaterThanOrEqual(60_000);
    expect(service.calls.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it.each([
    [[], `${RUN}\n`],
    [['--json'], `${JSON.stringify({ runId: RUN, runStatus: 'running' }, undefined, 2)}\n`],
    [['--query', 'runId'], `${RUN}\n`],
  ])('is not waited for with --no-wait %j', async (flags, out) => {
    const service = await scriptedServiceForTest(stillRunning);
    const { exitCode, stdout } = await runAgainst(service, [...RUN_IT, '--no-wait', ...flags]);
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: out });
  });

  it('prints an id that could drive the terminal inert', async () => {
    const runId = `${RUN}\u001b]0;x\u0007\u009b31m\u202e`;
    const service = await scriptedServiceForTest(
      creation(succeededRun({ runId })),
      creation(succeededRun({ runId })),
    );
    for (const flags of [[], ['--json']]) {
      const { stdout } = await runAgainst(service, [...RUN_IT, '--no-wait', ...flags], {
        terminal: { stdout: true },
      });
      expect(stdout()).toContain(RUN);
      // oxlint-disable-next-line no-control-regex -- these are what must not come
      expect(stdout()).not.toMatch(/[\u001b\u0007\u009b\u202e]/u);
    }
  });

  it.each([
    ['succeeded', 0],
    ['failed', 5],
    ['queued', 0],
  ] as const)('with --no-wait prints its id too if it is %s immediately', async (runStatus, code) => {
    const run = succeededRun({ runStatus });
    const service = await scriptedServiceForTest(creation(run), creation(run));
    const plain = await runAgainst(service, [...RUN_IT, '--no-wait']);
    expect({ exitCode: plain.exitCode, stdout: plain.stdout() }).toEqual({
      exitCode: code,
      stdout: `${RUN}\n`,
    });
    const json = await runAgainst(service, [...RUN_IT, '--no-wait', '--json']);
    expect(JSON.parse(json.stdout())).toEqual({ runId: RUN, runStatus });
    expect(json.exitCode).toBe(code);
  });

  it.each([[[]], [['--json']], [['--query', 'tokens']]])('that fails ends in 5 with %j', async flags => {
    const failed: Partial<Run> = { runStatus: 'failed', outputs: [{ type: 'error', data: 'no luck' }] };
    const service = await scriptedServiceForTest(stillRunning, poll(failed), creation(succeededRun(failed)));
    expect((await runAgainst(service, [...RUN_IT, ...flags])).exitCode).toBe(5);
    expect((await runAgainst(service, [...RUN_IT, ...flags])).exitCode).toBe(5);
  });

  it('is abandoned after --timeout and named', async () => {
    const { clock, runOut } = hourglass();
    const service = await scriptedServiceForTest(stillRunning, running, outlasting(runOut));
    const given = await runAgainst(service, [...RUN_IT, ...HOUR], { clock });
    expect({ exitCode: given.exitCode, stdout: given.stdout() }).toEqual({ exitCode: 6, stdout: '' });
    expect(given.stderr()).toBe(
      `error: gave up waiting; run ${RUN} continues (WAIT_TIMEOUT)\nGet it with: promptrun runs wait ${RUN}\n`,
    );
  });

  it('names the run in the JSON error of a timeout', async () => {
    const { clock, runOut } = hourglass();
    const service = await scriptedServiceForTest(stillRunning, outlasting(runOut));
    const { stderr } = await runAgainst(service, [...RUN_IT, '--json', ...HOUR], { clock });
    expect(JSON.parse(stderr())).toEqual({
      status: 'WAIT_TIMEOUT',
      message: `gave up waiting; run ${RUN} continues. Get it with: promptrun runs wait ${RUN}`,
      data: { runId: RUN },
      exitCode: 6,
    });
  });

  it('is left to itself at Ctrl-C, which says how to get it', async () => {
    const service = await scriptedServiceForTest(stillRunning, {
      expect: { path: `/runs/${RUN}` },
      answer: () => {
        running.raise('SIGINT');
        return 'silence';
      },
    });
    const running = startAgainst(service, RUN_IT);
    expect(await running.ended).toBe(130);
    expect(running.stderr()).toBe(
      `error: interrupted; run ${RUN} continues (INTERRUPTED)\nGet it with: promptrun runs wait ${RUN}\n`,
    );
    expect(running.stdout()).toBe('');
  });
});

describe('a creation that is not answered', () => {
  it.each<[string, Exchange['answer']]>([
    ['a broken connection', 'reset-after-body'],
    ['a closed connection', 'close'],
    ['an answer cut short', answerDated(TEST_NOW, { ...success(succeededRun()), cutAfter: 20 })],
    ["an intermediary's 502, whose clock is another", answerDated(TEST_NOW + 3_600_000, html(502))],
    ["an intermediary's 504, whose clock is another", answerDated(TEST_NOW - 3_600_000, html(504))],
    ['a 504 without a run id', answerDated(TEST_NOW, failure(504, 'GATEWAY_TIMEOUT_ERROR', 'hm'))],
  ])('after %s is looked for, never sent again, and the run that fits is only named', async (_, answer) => {
    const home = temporaryDirectory();
    const fitting = list(row(RUN), row(OTHER_RUN, { promptVersionId: PROMPT }));
    const service = await scriptedServiceForTest(unanswered(answer), fitting);
    const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT, { home });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr()).toContain(`It may be ${RUN}`);
    expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
    expect(stderr()).not.toContain(OTHER_RUN);
    expect(service.calls.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'lost' });
  });

  it.each([
    ['the environment', EXCLUSIVE, []],
    ['the setting', {}, [['config', 'set', 'exclusiveKey', 'true']]],
  ])('is taken from the list if %s says that nobody else uses the key', async (_, more, before) => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(unanswered('reset-after-body'), list(row(RUN)), poll({}));
    for (const argv of before) await runAgainst(service, argv, { home });
    const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, '--json'], { ...more, home });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout())).toMatchObject({ runId: RUN, recovered: true });
    expect(stderr()).toContain(`continuing with run ${RUN}`);
    expect(readJournal(home)).toContainEqual(expect.objectContaining({ runId: RUN, recovered: true }));
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'ended', runId: RUN, runStatus: 'succeeded' });
  });

  it('is marked, with the status that the list shows, if it is not waited for', async () => {
    const failed = list(row(RUN, { runStatus: 'failed' }));
    const service = await scriptedServiceForTest(unanswered('reset-after-body'), failed);
    const { exitCode, stdout } = await runAgainst(service, [...RUN_IT, '--no-wait', '--json'], EXCLUSIVE);
    expect(JSON.parse(stdout())).toEqual({ runId: RUN, runStatus: 'failed', recovered: true });
    expect(exitCode).toBe(5);
  });

  it('is not taken from the list while an earlier creation of the version is in doubt', async () => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      unanswered('reset-after-body'),
      list(),
      unanswered('reset-after-body'),
      list(row(RUN)),
    );
    expect((await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home })).exitCode).toBe(1);
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });
    expect(exitCode).toBe(1);
    expect(stderr()).toContain(`It may be ${RUN}`);
  });

  it.each([500, 502, 503])("is not looked for after the service's own %i", async status => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(unanswered(failure(status, 'SERVER_ERROR', 'oops')));
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });
    expect([exitCode, stderr()]).toEqual([1, expect.stringContaining('oops (SERVER_ERROR)')]);
    expect(service.calls.map(({ method }) => method)).toEqual(['POST']);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'failed' });
  });

  it("never gets the run of an earlier creation that ended in the service's own fault", async () => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      unanswered(failure(500, 'SERVER_ERROR', 'oops')),
      unanswered('reset-before-body'),
      list(row(RUN)),
    );
    expect((await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home })).exitCode).toBe(1);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'failed' });
    const { exitCode, stdout } = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 1, stdout: '' });
  });

  it.each<[string, Exchange['answer']]>([
    ['a broken connection', 'reset-after-body'],
    ["an intermediary's 502", html(502)],
    ["the service's own 500", supported(failure(500, 'SERVER_ERROR', 'oops'))],
  ])('is sent again under its key after %s if the service keeps such keys', async (_, answer) => {
    const keys: unknown[] = [];
    const noteKey = (call: { headers: Record<string, unknown> }): void => {
      keys.push(call.headers['idempotency-key']);
    };
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      { ...search('hello'), answer: supported(search('hello').answer as PlainAnswer) },
      {
        expect: { method: 'POST', path: '/runs' },
        answer: call => {
          noteKey(call);
          return answer as PlainAnswer;
        },
      },
      {
        expect: { method: 'POST', path: '/runs' },
        answer: call => {
          noteKey(call);
          return supported(success(succeededRun()));
        },
      },
    );
    const { exitCode, stdout } = await runAgainst(service, ['run', 'hello', '-i', 'name=Ada'], { home });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
    expect(new Set(keys)).toEqual(new Set([(readJournal(home)[0] as { id: string }).id]));
  });

  it('is sent again once the list shows that the service keeps keys', async () => {
    const service = await scriptedServiceForTest(
      unanswered('reset-after-body'),
      { ...list(), answer: supported(success({ rows: [row(RUN)], hasMore: false })) },
      unanswered(supported(failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: RUN }))),
      poll({}),
    );
    const { exitCode, stderr } = await runAgainst(service, RUN_IT);
    expect(exitCode).toBe(0);
    expect(stderr()).not.toContain('It may be');
  });

  it.each([[], ['--json']])(
    'names the candidates if several match, and how to take one up: %j',
    async (...flags) => {
      const service = await scriptedServiceForTest(
        unanswered('reset-after-body'),
        list(row(RUN), row(OTHER_RUN)),
      );
      const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, ...flags]);
      expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
      expect(stderr()).toContain(`promptrun runs wait ${OTHER_RUN}`);
    },
  );

  it('says so if none matches', async () => {
    const home = temporaryDirectory();
    const old = row(RUN, { createdAt: new Date(TEST_NOW - 60_000).toISOString() });
    const service = await scriptedServiceForTest(unanswered('reset-after-body'), list(old));
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { home });
    expect(exitCode).toBe(1);
    expect(stderr()).toMatch(/^error: the answer to the creation was lost[^\n]*\(NETWORK_ERROR\)$/m);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'lost' });
  });

  it('leaves runs out that the journal knows', async () => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      { ...creation(), answer: answerDated(TEST_NOW, success(succeededRun({ runId: OTHER_RUN }))) },
      unanswered('reset-after-body'),
      list(row(RUN), row(OTHER_RUN)),
      poll({}),
    );
    await runAgainst(service, RUN_IT, { home });
    expect((await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home })).exitCode).toBe(0);
  });

  it('goes by the clock of the service', async () => {
    const service = await scriptedServiceForTest(
      unanswered(answerDated(TEST_NOW - 3_600_000, failure(504, 'GATEWAY_TIMEOUT_ERROR', 'x'))),
      {
        expect: { method: 'GET', path: '/runs', query: { since: String((TEST_NOW - 3_600_000) / 1000) } },
        answer: answerDated(
          TEST_NOW - 3_600_000,
          success({
            rows: [row(RUN, { createdAt: new Date(TEST_NOW - 3_599_000).toISOString() })],
            hasMore: false,
          }),
        ),
      },
      poll({}),
    );
    expect((await runAgainst(service, RUN_IT, EXCLUSIVE)).exitCode).toBe(0);
  });

  it('is not taken for a run that another creation under way may have made', async () => {
    const home = temporaryDirectory();
    let release = (): void => {};
    const service = await scriptedServiceForTest(
      unanswered(() => new Promise(resolve => (release = () => resolve(success(succeededRun()))))),
      unanswered('reset-after-body'),
      list(row(RUN)),
    );
    const first = startAgainst(service, RUN_IT, { home });
    while (service.calls.length === 0) await new Promise(resolve => setImmediate(resolve));
    const second = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });
    expect(second.exitCode).toBe(1);
    expect(second.stderr()).toContain(`It may be ${RUN}`);
    release();
    expect(await first.ended).toBe(0);
  });

  it('is refused for good by an error of the service', async () => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      unanswered(failure(422, 'VALIDATION_ERROR', 'name is missing')),
    );
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { home });
    expect({ exitCode, stderr: stderr() }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(
        /^error: name is missing \(VALIDATION_ERROR\)\nShow its inputs with: promptrun prompts get \S+\n$/,
      ),
    });
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'refused' });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('may continue after %s, which says how to get it', async signal => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      unanswered(() => {
        running.raise(signal);
        return 'silence';
      }),
    );
    const running = startAgainst(service, RUN_IT, { home });
    expect(await running.ended).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(running.stderr()).toContain('a run may have been started and may continue (INTERRUPTED)');
    expect(running.stderr()).toContain('promptrun runs list --since 2026-01-02T03:04:05Z');
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'interrupted' });
  });

  it('has made no run at Ctrl-C while it waits to be sent again after a 429', async () => {
    const home = temporaryDirectory();
    const service = await scriptedServiceForTest(
      unanswered(failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, { 'retry-after': '30' })),
    );
    const clock: Clock = {
      now: () => TEST_NOW,
      random: () => 0,
      sleep: async (_, signal) => {
        running.raise('SIGINT');
        signal?.throwIfAborted();
      },
    };
    const running = startAgainst(service, RUN_IT, { home, clock });
    expect(await running.ended).toBe(130);
    expect(running.stderr()).toBe('error: interrupted; no run was started (INTERRUPTED)\n');
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'refused' });
  });

  it('is looked for once after --timeout', async () => {
    const { clock, runOut } = hourglass();
    const service = await scriptedServiceForTest(silentUntil(runOut), list(row(RUN)));
    const { exitCode, stderr } = await runAgainst(service, [...RUN_IT, ...HOUR], { clock });
    expect(exitCode).toBe(6);
    expect(stderr()).toContain(`It may be ${RUN}`);
    expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
  });

  it('is asked for by its key if the service keeps it, which settles the journal', async () => {
    const home = temporaryDirectory();
    const id = (): string => (readJournal(home)[0] as { id: string }).id;
    const listByKey = (rows: () => object[]): Exchange => ({
      expect: { path: '/runs' },
      answer: call => {
        expect(call.query['idempotencyKey']).toBe(id());
        return supported(success({ rows: rows(), hasMore: false }));
      },
    });
    const service = await scriptedServiceForTest(
      unanswered(supported(html(502))),
      unanswered(() => {
        running.raise('SIGINT');
        return 'silence';
      }),
      listByKey(() => []),
      listByKey(() => [{ ...row(OTHER_RUN), idempotencyKey: id() }]),
      { ...poll({ runId: OTHER_RUN }), expect: { path: `/runs/${OTHER_RUN}` }, times: 2 },
    );
    const running = startAgainst(service, RUN_IT, { home });
    expect(await running.ended).toBe(130);
    expect(running.stderr()).toContain('promptrun runs wait --last\n');
    const early = await runAgainst(service, ['runs', 'wait', '--last'], { home });
    expect([early.exitCode, early.stderr()]).toEqual([
      4,
      expect.stringContaining('did not reach the service'),
    ]);
    const arrived = await runAgainst(service, ['runs', 'wait', '--last'], { home });
    expect([arrived.exitCode, arrived.stdout()]).toEqual([0, 'Hello, Ada!\n']);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'ended', runId: OTHER_RUN });
    expect((await runAgainst(service, ['runs', 'get', '--last'], { home })).exitCode).toBe(0);
  });

  it.each([
    ['other rows', true],
    ['no word of idempotency', false],
  ])('is only named if an answer to its key has %s', async (_, says) => {
    const home = temporaryDirectory();
    const page = answerDated(TEST_NOW, success({ rows: [row(RUN)], hasMore: false }));
    const service = await scriptedServiceForTest(
      unanswered('reset-after-body'),
      list(),
      { expect: { path: '/runs' }, answer: says ? supported(page) : page },
      { expect: { path: '/runs' }, answer: page },
    );
    await runAgainst(service, RUN_IT, { home });
    const { exitCode, stderr } = await runAgainst(service, ['runs', 'wait', '--last'], { home });
    expect([exitCode, stderr()]).toEqual([1, expect.stringContaining(`It may be ${RUN}`)]);
  });

  it('is left to the list of runs since then if that finds nothing', async () => {
    const home = temporaryDirectory();
    const { clock, runOut } = hourglass();
    const service = await scriptedServiceForTest(
      silentUntil(runOut),
      list(),
      list(row(RUN)),
      list(row(RUN)),
      poll({}),
    );
    const given = await runAgainst(service, [...RUN_IT, ...HOUR], { home, clock });
    expect(given.exitCode).toBe(6);
    expect(given.stderr()).toContain('promptrun runs list --since 2026-01-02T03:04:05Z');
    const later = await runAgainst(service, ['runs', 'wait', '--last'], { ...EXCLUSIVE, home });
    expect({ exitCode: later.exitCode, stdout: later.stdout() }).toEqual({
      exitCode: 0,
      stdout: 'Hello, Ada!\n',
    });
  });

  it.each(['wait', 'get', 'save', 'show'])('is marked if runs %s adopts the run', async verb => {
    const home = temporaryDirectory();
    const script = [unanswered('reset-after-body'), list(), list(row(RUN)), list(row(RUN)), poll({})];
    const service = await scriptedServiceForTest(...script, ...(verb === 'show' ? [list(row(RUN))] : []));
    await runAgainst(service, RUN_IT, { home });
    const argv = ['runs', verb, '--last', '--json', ...(verb === 'save' ? ['--to', home] : [])];
    const { stdout } = await runAgainst(service, argv, { ...EXCLUSIVE, home });
    expect(JSON.parse(stdout())).toMatchObject({ runId: RUN, recovered: true });
  });
});

it.each([[[]], [['--json']], [['--no-wait']]])(
  'a result that standard output refuses is not a silent success: %j',
  async flags => {
    const service = await scriptedServiceForTest(creation());
    const { exitCode, stderr } = await runAgainst(service, [...RUN_IT, ...flags], { readerTakes: 3 });
    expect(exitCode).toBe(1);
    expect(stderr()).toContain(`the result of run ${RUN} was not printed`);
  },
);

describe('an id that is not a version', () => {
  const noVersion: Exchange = unanswered(failure(404, 'NOT_FOUND_ERROR', 'no such version'));

  it('is taken for a prompt, whose latest version is run', async () => {
    const service = await scriptedServiceForTest(
      noVersion,
      {
        expect: { path: `/prompts/${PROMPT}` },
        answer: success({ promptVersionId: VERSION, promptId: PROMPT, config: {} }),
      },
      creation(succeededRun(), { promptVersionId: VERSION, inputs: { textInputs: { name: 'Ada' } } }),
    );
    const { exitCode, stderr } = await runAgainst(service, ['run', PROMPT, '-i', 'name=Ada']);
    expect({ exitCode, stderr: stderr() }).toEqual({
      exitCode: 0,
      stderr: `note: ${PROMPT} is a prompt; running its latest version ${VERSION}\n`,
    });
  });

  it('names every missing input of the prompt, whose config has been read now, and sends nothing more', async () => {
    const config = { textInputs: { name: { required: true }, place: { required: true } } };
    const service = await scriptedServiceForTest(noVersion, {
      expect: { path: `/prompts/${PROMPT}` },
      answer: success({ promptVersionId: VERSION, promptId: PROMPT, config }),
    });
    const { exitCode, stderr } = await runAgainst(service, ['run', PROMPT]);
    expect(exitCode).toBe(2);
    expect(stderr()).toContain('error: missing inputs: name, place (USAGE_ERROR)\n');
  });

  it('is an error of one line with a remedy if it is not a prompt either', async () => {
    const nowhere = { expect: { path: `/prompts/${PROMPT}` }, answer: failure(404, 'NOT_FOUND_ERROR', 'no') };
    const service = await scriptedServiceForTest(noVersion, nowhere);
    const { exitCode, stderr } = await runAgainst(service, ['run', PROMPT]);
    expect(exitCode).toBe(4);
    expect(stderr()).toMatch(
      /^error: no published prompt or prompt version has the id 7f1d[^\n]*\n[^\n]*prompts search/,
    );
  });

  it('is not requested as a prompt if the run itself is gone', async () => {
    const service = await scriptedServiceForTest(stillRunning, { ...noSuchRun, times: 'any' });
    expect((await runAgainst(service, RUN_IT)).exitCode).toBe(4);
  });
});

describe('a slug', () => {
  it('is an exact match among the search results', async () => {
    const service = await scriptedServiceForTest(search('hello-world', 'hello'), creation());
    expect((await runAgainst(service, ['run', 'hello'])).exitCode).toBe(0);
  });

  it('that no prompt has is not found', async () => {
    const service = await scriptedServiceForTest(search('hello2', 'Hello'));
    const { exitCode, stderr } = await runAgainst(service, ['run', 'hello']);
    expect(exitCode).toBe(4);
    expect(stderr()).toMatch(
      /^error: the prompt "hello" does not exist; did you mean \S+\? \(NOT_FOUND_ERROR\)\n/,
    );
  });
});

const HOUR = ['--timeout', '1h'];

function supported(answer: PlainAnswer): PlainAnswer {
  return { ...answer, headers: { ...answer.headers, idempotency: 'supported' } };
}

function search(...slugs: string[]): Exchange {
  return {
    expect: { path: '/prompts/publish', query: { q: 'hello' } },
    answer: success({
      rows: slugs.map(slug => ({ slug, promptId: PROMPT, promptVersionId: VERSION, title: slug })),
    }),
  };
}

/** Returns a clock on which every wait is over at once, except the hour, which ends when `runOut` is called. */
function hourglass(): { clock: Pick<Clock, 'sleep'>; runOut: () => void } {
  let runOut = (): void => {};
  const over = new Promise<void>(resolve => (runOut = resolve));
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms >= 3_600_000) await over;
    await new Promise(resolve => setImmediate(resolve));
    signal?.throwIfAborted();
  };
  return { clock: { sleep }, runOut };
}
