import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/cli/core/clock.ts';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory, TEST_NOW } from '../../../support/context.ts';
import {
  type Exchange,
  failure,
  html,
  keepingKeys,
  type PlainAnswer,
  startScriptedServiceForTest,
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
} from './run-against-service.ts';
import {
  answerCreation,
  answerDated,
  createHourglass,
  EXCLUSIVE,
  HOUR_TIMEOUT,
  leaveCreationUnanswered,
  listedRun,
  pollOf,
  promptSearch,
  RUN_IT,
  readJournal,
  runList,
} from './scripted-runs.ts';

const HOUR_MS = 3_600_000;

describe('run without an answer to its creation', () => {
  it.each<{ name: string; answer: Exchange['answer'] }>([
    { name: 'a broken connection', answer: 'reset-after-body' },
    { name: 'a closed connection', answer: 'close' },
    {
      name: 'an answer cut short',
      answer: answerDated(TEST_NOW, { ...success(succeededRun()), cutAfter: 20 }),
    },
    {
      name: "an intermediary's 502, whose clock is another",
      answer: answerDated(TEST_NOW + HOUR_MS, html(502)),
    },
    {
      name: "an intermediary's 504, whose clock is another",
      answer: answerDated(TEST_NOW - HOUR_MS, html(504)),
    },
    {
      name: 'a 504 without a run id',
      answer: answerDated(TEST_NOW, failure(504, 'GATEWAY_TIMEOUT_ERROR', 'hm')),
    },
  ])(
    'looks for the run after $name, names one that matches, and never sends the creation again',
    async ({ answer }) => {
      const home = createTemporaryDirectory();
      const listWithMatch = runList(
        listedRun(RUN),
        listedRun(OTHER_RUN, { promptVersionId: PROMPT }),
      );
      const service = await startScriptedServiceForTest(answerCreation(answer), listWithMatch);
      const { exitCode, stdout, stderr } = await runAgainst(service, RUN_IT, { home });

      expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.fault, stdout: '' });
      expect(stderr()).toContain(`It may be ${RUN}`);
      expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
      expect(stderr()).not.toContain(OTHER_RUN);
      expect(service.calls.map(({ method }) => method)).toEqual(['POST', 'GET']);
      expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'lost' });
    },
  );

  it.each([
    { name: 'the environment', options: EXCLUSIVE, setUpCommands: [] },
    {
      name: 'the setting',
      options: {},
      setUpCommands: [['config', 'set', 'exclusiveKey', 'true']],
    },
  ])(
    'takes the run from the list if $name says that nobody else uses the key',
    async ({ options, setUpCommands }) => {
      const home = createTemporaryDirectory();
      const service = await startScriptedServiceForTest(
        answerCreation('reset-after-body'),
        runList(listedRun(RUN)),
        pollOf({}),
      );
      for (const argv of setUpCommands) await runAgainst(service, argv, { home });
      const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, '--json'], {
        ...options,
        home,
      });

      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout())).toMatchObject({ runId: RUN, recovered: true });
      expect(stderr()).toContain(`continuing with run ${RUN}`);
      expect(readJournal(home)).toContainEqual(
        expect.objectContaining({ runId: RUN, recovered: true }),
      );
      expect(readJournal(home).at(-1)).toMatchObject({
        outcome: 'ended',
        runId: RUN,
        runStatus: 'succeeded',
      });
    },
  );

  it('prints the status of the list with --no-wait, and marks the run as recovered', async () => {
    const listWithFailedRun = runList(listedRun(RUN, { runStatus: 'failed' }));
    const service = await startScriptedServiceForTest(
      answerCreation('reset-after-body'),
      listWithFailedRun,
    );
    const { exitCode, stdout } = await runAgainst(
      service,
      [...RUN_IT, '--no-wait', '--json'],
      EXCLUSIVE,
    );

    expect(JSON.parse(stdout())).toEqual({ runId: RUN, runStatus: 'failed', recovered: true });
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it('takes no run from the list while an earlier creation of the version is in doubt', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      answerCreation('reset-after-body'),
      runList(),
      answerCreation('reset-after-body'),
      runList(listedRun(RUN)),
    );

    expect((await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home })).exitCode).toBe(EXIT.fault);

    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });
    expect(exitCode).toBe(EXIT.fault);
    expect(stderr()).toContain(`It may be ${RUN}`);
  });

  it.each([500, 502, 503])("does not look for a run after the service's own %i", async status => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      answerCreation(failure(status, 'SERVER_ERROR', 'oops')),
    );
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });

    expect(stderr()).toContain('oops (SERVER_ERROR)');
    expect(exitCode).toBe(EXIT.fault);
    expect(service.calls.map(({ method }) => method)).toEqual(['POST']);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'failed' });
  });

  it('never takes the run of an earlier creation that ended in a fault of the service', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      answerCreation(failure(500, 'SERVER_ERROR', 'oops')),
      answerCreation('reset-before-body'),
      runList(listedRun(RUN)),
    );

    expect((await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home })).exitCode).toBe(EXIT.fault);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'failed' });

    const { exitCode, stdout } = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });
    expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.fault, stdout: '' });
  });

  it.each<{ name: string; answer: Exchange['answer'] }>([
    { name: 'a broken connection', answer: 'reset-after-body' },
    { name: "an intermediary's 502", answer: html(502) },
    { name: "the service's own 500", answer: keepingKeys(failure(500, 'SERVER_ERROR', 'oops')) },
  ])(
    'sends the creation again under its key after $name if the service keeps such keys',
    async ({ answer }) => {
      const keys: unknown[] = [];
      const noteKey = (call: { headers: Record<string, unknown> }): void => {
        keys.push(call.headers['idempotency-key']);
      };

      const home = createTemporaryDirectory();
      const service = await startScriptedServiceForTest(
        {
          ...promptSearch('hello'),
          answer: keepingKeys(promptSearch('hello').answer as PlainAnswer),
        },
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
            return keepingKeys(success(succeededRun()));
          },
        },
      );
      const { exitCode, stdout } = await runAgainst(service, ['run', 'hello', '-i', 'name=Ada'], {
        home,
      });

      expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: 0, stdout: 'Hello, Ada!\n' });
      expect(new Set(keys)).toEqual(new Set([(readJournal(home)[0] as { id: string }).id]));
    },
  );

  it('sends the creation again once the list shows that the service keeps keys', async () => {
    const service = await startScriptedServiceForTest(
      answerCreation('reset-after-body'),
      { ...runList(), answer: keepingKeys(success({ rows: [listedRun(RUN)], hasMore: false })) },
      answerCreation(
        keepingKeys(failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still running', { runId: RUN })),
      ),
      pollOf({}),
    );
    const { exitCode, stderr } = await runAgainst(service, RUN_IT);
    expect(exitCode).toBe(0);
    expect(stderr()).not.toContain('It may be');
  });

  it.each([[], ['--json']])(
    'names the candidates if several match, and how to get one: %j',
    async (...flags) => {
      const service = await startScriptedServiceForTest(
        answerCreation('reset-after-body'),
        runList(listedRun(RUN), listedRun(OTHER_RUN)),
      );
      const { exitCode, stdout, stderr } = await runAgainst(service, [...RUN_IT, ...flags]);

      expect({ exitCode, stdout: stdout() }).toEqual({ exitCode: EXIT.fault, stdout: '' });
      expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
      expect(stderr()).toContain(`promptrun runs wait ${OTHER_RUN}`);
    },
  );

  it('reports the lost answer if the list has only runs that are older than the creation', async () => {
    const home = createTemporaryDirectory();
    const olderRun = listedRun(RUN, { createdAt: new Date(TEST_NOW - 60_000).toISOString() });
    const service = await startScriptedServiceForTest(
      answerCreation('reset-after-body'),
      runList(olderRun),
    );
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { home });

    expect(exitCode).toBe(EXIT.fault);
    expect(stderr()).toMatch(
      /^error: the answer to the creation was lost[^\n]*\(NETWORK_ERROR\)$/m,
    );
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'lost' });
  });

  it('never takes a run that the journal knows', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      { ...creation(), answer: answerDated(TEST_NOW, success(succeededRun({ runId: OTHER_RUN }))) },
      answerCreation('reset-after-body'),
      runList(listedRun(RUN), listedRun(OTHER_RUN)),
      pollOf({}),
    );
    await runAgainst(service, RUN_IT, { home });
    expect((await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home })).exitCode).toBe(0);
  });

  it('compares the times of runs by the clock of the service', async () => {
    const service = await startScriptedServiceForTest(
      answerCreation(answerDated(TEST_NOW - HOUR_MS, failure(504, 'GATEWAY_TIMEOUT_ERROR', 'x'))),
      {
        expect: {
          method: 'GET',
          path: '/runs',
          query: { since: String((TEST_NOW - HOUR_MS) / 1000) },
        },
        answer: answerDated(
          TEST_NOW - HOUR_MS,
          success({
            rows: [
              listedRun(RUN, { createdAt: new Date(TEST_NOW - HOUR_MS + 1000).toISOString() }),
            ],
            hasMore: false,
          }),
        ),
      },
      pollOf({}),
    );
    expect((await runAgainst(service, RUN_IT, EXCLUSIVE)).exitCode).toBe(0);
  });

  it('never takes a run that another creation under way may have made', async () => {
    const home = createTemporaryDirectory();
    let release = (): void => {};
    const service = await startScriptedServiceForTest(
      answerCreation(
        () => new Promise(resolve => (release = () => resolve(success(succeededRun())))),
      ),
      answerCreation('reset-after-body'),
      runList(listedRun(RUN)),
    );
    const first = startAgainst(service, RUN_IT, { home });
    while (service.calls.length === 0) await new Promise(resolve => setImmediate(resolve));
    const second = await runAgainst(service, RUN_IT, { ...EXCLUSIVE, home });

    expect(second.exitCode).toBe(EXIT.fault);
    expect(second.stderr()).toContain(`It may be ${RUN}`);

    release();
    expect(await first.ended).toBe(0);
  });

  it('notes a creation that the service refused as refused, not as lost', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      answerCreation(failure(422, 'VALIDATION_ERROR', 'name is missing')),
    );
    const { exitCode, stderr } = await runAgainst(service, RUN_IT, { home });

    expect({ exitCode, stderr: stderr() }).toEqual({
      exitCode: EXIT.usage,
      stderr: expect.stringMatching(
        /^error: name is missing \(VALIDATION_ERROR\)\nShow its inputs with: promptrun prompts get \S+\n$/,
      ),
    });
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'refused' });
  });

  it.each([
    ['SIGINT', EXIT.interrupted],
    ['SIGTERM', EXIT.terminated],
  ] as const)(
    'says after %s that the run may continue, and how to get it',
    async (signal, exitCode) => {
      const home = createTemporaryDirectory();
      const service = await startScriptedServiceForTest(
        answerCreation(() => {
          running.raise(signal);
          return 'silence';
        }),
      );
      const running = startAgainst(service, RUN_IT, { home });

      expect(await running.ended).toBe(exitCode);
      expect(running.stderr()).toContain(
        'a run may have been started and may continue (INTERRUPTED)',
      );
      expect(running.stderr()).toContain('promptrun runs list --since 2026-01-02T03:04:05Z');
      expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'interrupted' });
    },
  );

  it('says that no run was started if Ctrl-C ends the wait after a 429', async () => {
    const home = createTemporaryDirectory();
    const service = await startScriptedServiceForTest(
      answerCreation(
        failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down', null, { 'retry-after': '30' }),
      ),
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

    expect(await running.ended).toBe(EXIT.interrupted);
    expect(running.stderr()).toBe('error: interrupted; no run was started (INTERRUPTED)\n');
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'refused' });
  });

  it('looks for the run once after --timeout', async () => {
    const { clock, runOut } = createHourglass();
    const service = await startScriptedServiceForTest(
      leaveCreationUnanswered(runOut),
      runList(listedRun(RUN)),
    );
    const { exitCode, stderr } = await runAgainst(service, [...RUN_IT, ...HOUR_TIMEOUT], { clock });
    expect(exitCode).toBe(EXIT.waitTimeout);
    expect(stderr()).toContain(`It may be ${RUN}`);
    expect(stderr()).toContain(`promptrun runs wait ${RUN}`);
  });

  it('finds the run by its key if the service keeps keys, once the creation has arrived', async () => {
    const home = createTemporaryDirectory();
    const readKey = (): string => (readJournal(home)[0] as { id: string }).id;

    const expectListByKey = (rows: () => object[]): Exchange => ({
      expect: { path: '/runs' },
      answer: call => {
        expect(call.query['idempotencyKey']).toBe(readKey());
        return keepingKeys(success({ rows: rows(), hasMore: false }));
      },
    });

    const service = await startScriptedServiceForTest(
      answerCreation(keepingKeys(html(502))),
      answerCreation(() => {
        running.raise('SIGINT');
        return 'silence';
      }),
      expectListByKey(() => []),
      expectListByKey(() => [{ ...listedRun(OTHER_RUN), idempotencyKey: readKey() }]),
      { ...pollOf({ runId: OTHER_RUN }), expect: { path: `/runs/${OTHER_RUN}` }, times: 2 },
    );
    const running = startAgainst(service, RUN_IT, { home });

    expect(await running.ended).toBe(EXIT.interrupted);
    expect(running.stderr()).toContain('promptrun runs wait --last\n');

    const beforeArrival = await runAgainst(service, ['runs', 'wait', '--last'], { home });
    expect(beforeArrival.stderr()).toContain('did not reach the service');
    expect(beforeArrival.exitCode).toBe(EXIT.notFound);

    const afterArrival = await runAgainst(service, ['runs', 'wait', '--last'], { home });
    expect(afterArrival.stdout()).toBe('Hello, Ada!\n');
    expect(afterArrival.exitCode).toBe(0);
    expect(readJournal(home).at(-1)).toMatchObject({ outcome: 'ended', runId: OTHER_RUN });
    expect((await runAgainst(service, ['runs', 'get', '--last'], { home })).exitCode).toBe(0);
  });

  it.each([
    { name: 'other rows', showsKeySupport: true },
    { name: 'no word of idempotency', showsKeySupport: false },
  ])('only names the run if an answer to its key has $name', async ({ showsKeySupport }) => {
    const home = createTemporaryDirectory();
    const page = answerDated(TEST_NOW, success({ rows: [listedRun(RUN)], hasMore: false }));
    const service = await startScriptedServiceForTest(
      answerCreation('reset-after-body'),
      runList(),
      { expect: { path: '/runs' }, answer: showsKeySupport ? keepingKeys(page) : page },
      { expect: { path: '/runs' }, answer: page },
    );
    await runAgainst(service, RUN_IT, { home });
    const { exitCode, stderr } = await runAgainst(service, ['runs', 'wait', '--last'], { home });

    expect(stderr()).toContain(`It may be ${RUN}`);
    expect(exitCode).toBe(EXIT.fault);
  });

  it('looks for the run in the list if its key finds nothing', async () => {
    const home = createTemporaryDirectory();
    const { clock, runOut } = createHourglass();
    const service = await startScriptedServiceForTest(
      leaveCreationUnanswered(runOut),
      runList(),
      runList(listedRun(RUN)),
      runList(listedRun(RUN)),
      pollOf({}),
    );
    const creation = await runAgainst(service, [...RUN_IT, ...HOUR_TIMEOUT], { home, clock });

    expect(creation.exitCode).toBe(EXIT.waitTimeout);
    expect(creation.stderr()).toContain('promptrun runs list --since 2026-01-02T03:04:05Z');

    const adoption = await runAgainst(service, ['runs', 'wait', '--last'], { ...EXCLUSIVE, home });
    expect({ exitCode: adoption.exitCode, stdout: adoption.stdout() }).toEqual({
      exitCode: 0,
      stdout: 'Hello, Ada!\n',
    });
  });

  it.each(['wait', 'get', 'save', 'show'])(
    'marks the run as recovered if runs %s adopts it',
    async verb => {
      const home = createTemporaryDirectory();
      const script = [
        answerCreation('reset-after-body'),
        runList(),
        runList(listedRun(RUN)),
        runList(listedRun(RUN)),
        pollOf({}),
      ];
      const service = await startScriptedServiceForTest(
        ...script,
        ...(verb === 'show' ? [runList(listedRun(RUN))] : []),
      );
      await runAgainst(service, RUN_IT, { home });
      const argv = ['runs', verb, '--last', '--json', ...(verb === 'save' ? ['--to', home] : [])];
      const { stdout } = await runAgainst(service, argv, { ...EXCLUSIVE, home });

      expect(JSON.parse(stdout())).toMatchObject({ runId: RUN, recovered: true });
    },
  );
});
