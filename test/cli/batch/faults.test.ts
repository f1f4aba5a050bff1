import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../../src/cli/core/clock.ts';
import {
  type BatchResult,
  journalSteps,
  lastLines,
  resultLines,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { directoryWith } from '../../support/context.ts';
import { hastyClock, untilAborted } from '../../support/hasty-clock.ts';
import {
  type Call,
  type Exchange,
  type Fault,
  failure,
  type PlainAnswer,
  type ScriptedAnswer,
  type ScriptedService,
  startScriptedService,
  success,
  versionLookup,
} from '../../support/scripted-service.ts';
import { serviceEnv } from '../../support/service-for-test.ts';

const EXCLUSIVE = { env: { PROMPTRUN_EXCLUSIVE_KEY: '1' } };
const HOUR_MS = 3_600_000;
const VERSION = randomUUID();
const TOO_MANY = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'slow down');

const version = versionLookup(VERSION);
const noRuns: Exchange = {
  expect: { method: 'GET', path: '/runs' },
  answer: success({ rows: [], hasMore: false }),
  times: 'any',
};

function createdName(call: Call): string {
  return (call.body as { inputs: { textInputs: { name: string } } }).inputs.textInputs.name;
}

function creation(name: string, answer: ScriptedAnswer, times?: number): Exchange {
  return {
    expect: {
      method: 'POST',
      path: '/runs',
      body: body => createdName({ body } as Call) === name,
    },
    answer,
    ...(times !== undefined && { times }),
  };
}

function succeeded(runId: string = randomUUID()): PlainAnswer {
  return success({ runId, outputs: [], runStatus: 'succeeded', tokens: 1 });
}

interface Against {
  readonly rows?: string;
  readonly flags?: readonly string[];
  readonly clock?: Clock;
  readonly env?: Record<string, string>;
  /** The directory of an earlier call, to continue in it. */
  readonly home?: string;
  /** Changes the answer that has the version. */
  readonly version?: (answer: PlainAnswer) => PlainAnswer;
}

/** The list that a batch reads at its end for the credits of its runs. */
const creditsList: Exchange = {
  expect: { method: 'GET', path: '/runs', query: { since: null } },
  answer: success({ rows: [], hasMore: false }),
  times: 'any',
};

async function batchAgainst(
  script: readonly Exchange[],
  options: Against = {},
): Promise<BatchResult & { home: string; service: ScriptedService }> {
  const { rows = 'name\nAda\nBo\n', flags = [], clock = hastyClock(), env = {} } = options;
  const asked = { ...version, answer: (options.version ?? (as => as))(version.answer as PlainAnswer) };
  const exchanges = [{ ...asked, times: 'any' as const }, ...script, creditsList];
  const service = await startScriptedService(exchanges, { ordered: false });
  onTestFinished(() => service.close());
  const home = options.home ?? directoryWith({ 'names.csv': rows });
  const args = [VERSION, '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '1', ...flags];
  const result = await runBatchCommand(args, {
    env: { ...serviceEnv(service.baseUrl), ...env },
    home,
    clock,
  });
  return { ...result, home, service };
}

function supported(answer: PlainAnswer): PlainAnswer {
  return { ...answer, headers: { ...answer.headers, idempotency: 'supported' } };
}

/** Returns a promise that a test fulfils. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>(resolve => (open = resolve));
  return { opened, open };
}

const states = (home: string): string[] => journalSteps(home).map(({ state }) => state);

describe('too many requests', () => {
  test('a creation that got a 429 is sent again, and a note says that it waits', async () => {
    let steps: string[] = [];
    const keys = new Set<unknown>();
    const told = (answer: PlainAnswer) => (call: Call) => {
      keys.add(call.headers['idempotency-key']);
      return answer;
    };
    const home = directoryWith({ 'names.csv': 'name\nAda\nBo\n' });
    const script = [
      creation('Ada', told(TOO_MANY), 2),
      creation('Ada', told(succeeded())),
      creation('Bo', () => {
        steps = states(home);
        return succeeded();
      }),
    ];
    const { exitCode, service } = await batchAgainst(script, { home });
    expect(exitCode).toBe(0);
    service.verify();
    expect(keys.size).toBe(1);
    expect(steps).toEqual([
      'creating',
      'waiting',
      'creating',
      'waiting',
      'creating',
      'succeeded',
      'creating',
    ]);
  });

  test('a row fails only after many tries', async () => {
    const { exitCode, home, service } = await batchAgainst([
      creation('Ada', TOO_MANY, 10),
      creation('Bo', succeeded()),
    ]);
    expect(exitCode).toBe(5);
    service.verify();
    expect(lastLines(home)).toMatchObject([{ runStatus: 'failed', runId: null }, { runStatus: 'succeeded' }]);
    expect(lastLines(home)[0]?.error).toContain('TOO_MANY_REQUESTS_ERROR');
  });

  test('a service that asks to come back much later ends the batch, resumable without a flag', async () => {
    const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '3600' });
    const { exitCode, home, stderr } = await batchAgainst([creation('Ada', later)]);
    expect(exitCode).toBe(7);
    expect(stderr).toContain('error: later; 2 rows left (TOO_MANY_REQUESTS_ERROR)');
    expect(stderr).toContain('--resume');
    expect(lastLines(home)).toEqual([]);
    expect(states(home)).toEqual(['creating', 'waiting']);
  });

  test('a service that asks to come back after --timeout ends the batch immediately, resumable', async () => {
    const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '50' });
    const limit = hastyClock((ms, signal) => (ms === 10_000 ? untilAborted(signal) : undefined));
    const { exitCode, home, stderr } = await batchAgainst([creation('Ada', later)], {
      clock: limit,
      flags: ['--timeout', '10s'],
    });
    expect(exitCode).toBe(6);
    expect(stderr).toContain('after the time of --timeout; 2 rows left (WAIT_TIMEOUT)');
    expect(stderr).not.toContain('waiting 50 s');
    expect(lastLines(home)).toEqual([]);
    expect(states(home)).toEqual(['creating', 'waiting']);
  });

  test('rows that wait for their turn or for another attempt are left then, not sent', async () => {
    const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '3600' });
    const soon = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'soon', null, { 'retry-after': '50' });
    const held = [gate(), gate()];
    let sleeps = 0;
    const clock = hastyClock((ms, signal) => {
      if (ms < 40_000 || sleeps === held.length) return undefined;
      held[sleeps++]?.open();
      return untilAborted(signal);
    });
    const script = [
      creation('Ada', soon),
      creation('Bo', () => held[1]?.opened.then(() => later) ?? later),
      creation('Dee', () => held[0]?.opened.then(() => succeeded()) ?? succeeded()),
    ];
    const { exitCode, stderr, home, service } = await batchAgainst(script, {
      rows: 'name\nAda\nBo\nDee\nCy\n',
      clock,
      flags: ['--concurrency', '3'],
    });
    expect(exitCode).toBe(7);
    expect(stderr).toContain('error: later; 3 rows left (TOO_MANY_REQUESTS_ERROR)');
    service.verify();
    const last = new Map(journalSteps(home).map(({ id, state }) => [id, state]));
    expect([...last].sort()).toEqual([
      ['1', 'waiting'],
      ['2', 'waiting'],
      ['3', 'succeeded'],
      // The fourth waited for its turn: the journal names only what may have been sent.
    ]);
  });
});

describe('a creation without an answer', () => {
  test('is exit 1 if no request of the command was answered', async () => {
    const rows = 'name\nAda\nBo\n';
    const home = directoryWith({ 'names.csv': rows });
    const service = await startScriptedService([
      version,
      creation('Ada', 'reset-after-body', 2),
      creation('Bo', 'reset-after-body', 2),
      { ...noRuns, answer: 'reset-after-body' },
    ]);
    onTestFinished(() => service.close());
    const run = (out: string): Promise<BatchResult> =>
      runBatchCommand([VERSION, '--from', 'names.csv', '--out', out], {
        home,
        env: serviceEnv(service.baseUrl),
      });
    expect((await run('first.jsonl')).exitCode).toBe(5);
    // The version is cached by now, so that only creations and the look for their runs are sent.
    expect((await run('second.jsonl')).exitCode).toBe(1);
  });

  test('is in doubt, never sent again, and the other rows continue', async () => {
    const { exitCode, home, stderr, service } = await batchAgainst([
      creation('Ada', 'reset-after-body'),
      noRuns,
      creation('Bo', succeeded()),
    ]);
    expect(exitCode).toBe(5);
    service.verify();
    expect(lastLines(home)).toMatchObject([{ row: 2, runStatus: 'succeeded' }]);
    expect(journalSteps(home)).toContainEqual({ row: 1, id: '1', candidates: [] });
    expect(stderr).toContain('1 in doubt');
    expect(stderr).toContain('Look for it with: promptrun runs list --since 2026-');
    expect(stderr.match(/Look for it/g)).toHaveLength(1);
    expect(stderr).toContain('--retry-unknown');
  });

  test('names the runs that fit, and then does not say that none was found', async () => {
    const runs = [randomUUID(), randomUUID()];
    const row = { promptVersionId: VERSION, outputs: [], runStatus: 'running', credits: null, runName: '' };
    const { stderr } = await batchAgainst([
      creation('Ada', 'reset-after-body'),
      {
        expect: { method: 'GET', path: '/runs' },
        answer: () => {
          const createdAt = new Date().toISOString();
          return success({ rows: runs.map(runId => ({ ...row, runId, createdAt })), hasMore: false });
        },
        times: 'any',
      },
      creation('Bo', succeeded()),
    ]);
    for (const runId of runs) expect(stderr).toContain(`promptrun runs wait ${runId}`);
    expect(stderr).not.toContain('No matching run was found');
  });

  test('does not say that no run was found if the list could not be read', async () => {
    const { stderr, exitCode } = await batchAgainst([
      creation('Ada', 'reset-after-body'),
      { ...noRuns, answer: failure(400, 'VALIDATION_ERROR', 'no list') },
      creation('Bo', succeeded()),
    ]);
    expect(exitCode).toBe(5);
    expect(stderr).not.toContain('No matching run was found');
    expect(stderr).toContain('promptrun runs list --since');
  });

  test('continues with the only run that fits if nobody else uses the key', async () => {
    const runId = randomUUID();
    const row = {
      runId,
      promptVersionId: VERSION,
      outputs: [],
      runStatus: 'running',
      credits: null,
      runName: '',
    };
    const { exitCode, home } = await batchAgainst(
      [
        creation('Ada', 'reset-after-body'),
        {
          expect: { method: 'GET', path: '/runs' },
          answer: () => success({ rows: [{ ...row, createdAt: new Date().toISOString() }], hasMore: false }),
          times: 'any',
        },
        { expect: { path: `/runs/${runId}` }, answer: succeeded(runId) },
        creation('Bo', succeeded()),
      ],
      EXCLUSIVE,
    );
    expect(exitCode).toBe(0);
    expect(lastLines(home)[0]).toMatchObject({ runStatus: 'succeeded', runId, recovered: true });
  });

  test("the service's own fault fails the row, which may still have a run", async () => {
    const script = [creation('Ada', failure(500, 'SERVER_ERROR', 'oh no')), creation('Bo', succeeded())];
    const { exitCode, home } = await batchAgainst(script);
    expect(exitCode).toBe(5);
    expect(lastLines(home)[0]).toMatchObject({ runStatus: 'failed', runId: null });
    expect(lastLines(home)[0]?.error).toBe('oh no; it may have created a run anyway (SERVER_ERROR)');
    const again = await batchAgainst([creation('Ada', succeeded())], {
      home,
      flags: ['--resume', '--retry-failed'],
    });
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('--retry-failed: 1 run may be paid for twice');
  });

  test('is sent again under its key if the service keeps such keys', async () => {
    const script = [
      creation('Ada', 'reset-after-body'),
      creation('Ada', supported(failure(500, 'SERVER_ERROR', 'oh no'))),
      creation('Ada', supported(succeeded())),
      creation('Bo', supported(succeeded())),
    ];
    const { exitCode, home, service } = await batchAgainst(script, { version: supported });
    expect(exitCode).toBe(0);
    service.verify();
    expect(new Set(service.calls.slice(1, 4).map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(lastLines(home)).toMatchObject([{ runStatus: 'succeeded' }, { runStatus: 'succeeded' }]);
  });

  test('is settled when the batch resumes, and runs again only with --retry-unknown', async () => {
    const { home } = await batchAgainst([
      creation('Ada', 'reset-after-body'),
      noRuns,
      creation('Bo', succeeded()),
    ]);
    const left = await batchAgainst([noRuns], { home, flags: ['--resume', '--retry-failed'] });
    expect(left.exitCode).toBe(5);
    expect(left.stderr).toContain('1 in doubt');
    const clock = hastyClock();
    const script = [noRuns, creation('Ada', succeeded())];
    const again = await batchAgainst(script, { home, clock, flags: ['--resume', '--retry-unknown'] });
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('--retry-unknown: 1 run may be paid for twice');
    expect(lastLines(home)).toHaveLength(2);
  });

  test('asks for the list at most twice for each creation in doubt, however long the list is', async () => {
    const rows = Array.from({ length: 50 }, () => ({
      runId: randomUUID(),
      promptVersionId: VERSION,
      outputs: [],
      runStatus: 'succeeded',
      // Within the time that is searched, although the command's clock runs ahead.
      createdAt: new Date(Date.now() + 60_000).toISOString(),
    }));
    const pages: Exchange = {
      expect: { method: 'GET', path: '/runs' },
      answer: () => success({ rows: rows.map(row => ({ ...row, runId: randomUUID() })), hasMore: true }),
      times: 'any',
    };
    const { service } = await batchAgainst([
      creation('Ada', 'reset-after-body'),
      creation('Bo', succeeded()),
      pages,
    ]);
    expect(service.calls.filter(({ method, path }) => method === 'GET' && path === '/runs')).toHaveLength(2);
  });
});

test('a refusal by the service fails its row, and the others continue', async () => {
  const { exitCode, home, stderr } = await batchAgainst([
    creation('Ada', failure(422, 'VALIDATION_ERROR', 'not like that', ['name is too short'])),
    creation('Bo', succeeded()),
  ]);
  expect(exitCode).toBe(5);
  expect(stderr).toContain('error: names.csv line 2 (row 1): not like that (VALIDATION_ERROR)');
  expect(stderr).toContain('  "name is too short"');
  expect(lastLines(home)[0]).toMatchObject({
    runStatus: 'failed',
    error: 'not like that (VALIDATION_ERROR)',
  });
});

test('a refused key ends the batch; --resume runs the rows without a run, with no other flag', async () => {
  const { exitCode, home, stderr, service } = await batchAgainst(
    [creation('Ada', succeeded()), creation('Bo', failure(401, 'UNAUTHORIZED_ERROR', 'who are you'))],
    { rows: 'name\nAda\nBo\nEve\n' },
  );
  expect(exitCode).toBe(3);
  service.verify();
  expect(stderr).toContain('error: who are you; 2 rows left (UNAUTHORIZED_ERROR)');
  expect(stderr.match(/who are you/gu)).toHaveLength(1);
  expect(lastLines(home)).toHaveLength(1);
  expect(states(home)).toEqual(['creating', 'succeeded', 'creating', 'waiting']);
});

/** Returns the base URL of a service that returns the version, and then no longer listens. */
async function serviceThatGoesAway(): Promise<string> {
  const server = createServer((_, response) => {
    const { body } = version.answer as PlainAnswer;
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(body));
    server.close();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test('an account without credits ends the batch', async () => {
  const { exitCode, home, stderr, service } = await batchAgainst(
    [creation('Ada', failure(402, 'PAYMENT_REQUIRED_ERROR', 'no credits'))],
    { rows: `name\n${'Ada\n'.repeat(100)}` },
  );
  expect(exitCode).toBe(3);
  service.verify();
  expect(stderr).toContain('error: no credits; 100 rows left (PAYMENT_REQUIRED_ERROR)');
  expect(lastLines(home)).toEqual([]);
});

test('ten creations in a row that reach nobody end the batch, and a few are left for --resume', async () => {
  for (const [rows, begun] of [
    [100, 10],
    [3, 3],
  ] as const) {
    const home = directoryWith({ 'names.csv': `name\n${'Ada\n'.repeat(rows)}` });
    const { exitCode, stderr } = await runBatchCommand(
      [VERSION, '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '1'],
      { home, env: serviceEnv(await serviceThatGoesAway()) },
    );
    expect(exitCode).toBe(1);
    expect(stderr.match(/connection refused/gu)).toHaveLength(1);
    expect(stderr).toContain(`; ${rows} rows left (NETWORK_ERROR)`);
    expect(stderr).toContain('--resume');
    expect(new Set(journalSteps(home).flatMap(({ row }) => row ?? [])).size).toBe(begun);
    expect(lastLines(home)).toEqual([]);
  }
});

test('a run that is not waited for any longer keeps its id in the journal', async () => {
  const runId = randomUUID();
  let tellPolled = (): void => {};
  const polled = new Promise<void>(resolve => {
    tellPolled = resolve;
  });
  const { exitCode, home, stderr } = await batchAgainst(
    [
      creation('Ada', failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still going', { runId })),
      {
        expect: { path: `/runs/${runId}` },
        answer: () => {
          tellPolled();
          return success({ runId, outputs: [], runStatus: 'running', tokens: 0 });
        },
        times: 'any',
      },
    ],
    {
      rows: 'name\nAda\n',
      flags: ['--timeout', '1h'],
      clock: hastyClock(ms => (ms === HOUR_MS ? polled : undefined)),
    },
  );
  expect(exitCode).toBe(6);
  expect(resultLines(home)).toEqual([]);
  expect(journalSteps(home).at(-1)).toMatchObject({ state: 'running', runId });
  expect(stderr).toContain('error: gave up waiting; 0 of 1 rows succeeded, 1 not done (WAIT_TIMEOUT)');
  expect(stderr).toContain('To continue, add --resume to the same command');
});

test('the creation is announced on disk before the service can know of it', async () => {
  let seen: string[] = [];
  const home = directoryWith({ 'names.csv': 'name\nAda\n' });
  const service = await startScriptedService([
    version,
    creation('Ada', () => {
      seen = states(home);
      return succeeded();
    }),
  ]);
  onTestFinished(() => service.close());
  await runBatchCommand([VERSION, '--from', 'names.csv', '--out', 'results.jsonl'], {
    env: serviceEnv(service.baseUrl),
    home,
  });
  expect(seen).toEqual(['creating']);
});

test('the config is read once for all rows', async () => {
  const { service } = await batchAgainst([creation('Ada', succeeded()), creation('Bo', succeeded())]);
  const paths = service.calls.filter(({ method }) => method === 'GET').map(({ path: asked }) => asked);
  expect(paths).toEqual([`/prompt-versions/${VERSION}`, '/runs']);
});

test("an id that is a prompt's runs its latest version", async () => {
  const promptId = randomUUID();
  const service = await startScriptedService([
    { expect: { path: `/prompt-versions/${promptId}` }, answer: failure(404, 'NOT_FOUND_ERROR', 'none') },
    {
      expect: { path: `/prompts/${promptId}` },
      answer: success({ promptVersionId: VERSION, promptId, title: 't', publishedAt: '', config: {} }),
    },
    {
      expect: {
        method: 'POST',
        body: body => (body as { promptVersionId: string }).promptVersionId === VERSION,
      },
      answer: succeeded(),
    },
    creditsList,
  ]);
  onTestFinished(() => service.close());
  const home = directoryWith({ 'names.csv': 'name\nAda\n' });
  const args = [promptId, '--from', 'names.csv', '--out', 'results.jsonl'];
  const { exitCode, stderr } = await runBatchCommand(args, { env: serviceEnv(service.baseUrl), home });
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`${promptId} is a prompt`);
  service.verify();
});

test('a row that is only polled leaves its creation to the next', async () => {
  const runId = randomUUID();
  let others = 0;
  const { exitCode, home } = await batchAgainst([
    creation('Ada', failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still going', { runId })),
    creation('Bo', () => {
      others += 1;
      return succeeded();
    }),
    {
      expect: { path: `/runs/${runId}` },
      answer: () =>
        success({ runId, outputs: [], runStatus: others === 0 ? 'running' : 'succeeded', tokens: 1 }),
      times: 'any',
    },
  ]);
  expect(exitCode).toBe(0);
  expect(resultLines(home).map(({ row }) => row)).toEqual([2, 1]);
});

describe('several creations at a time', () => {
  const listedRun = (runId: string): object => ({
    runId,
    promptVersionId: VERSION,
    outputs: [],
    runStatus: 'succeeded',
    credits: null,
    runName: '',
    /** The time at which it is listed, however long the command took to start. */
    get createdAt() {
      return new Date().toISOString();
    },
  });

  /** Creations that are answered together, once as many as there are have come in. */
  function together(count: number): () => Promise<void> {
    let arrived = 0;
    let open = (): void => {};
    const all = new Promise<void>(resolve => {
      open = resolve;
    });
    return () => {
      arrived += 1;
      if (arrived === count) open();
      return all;
    };
  }

  test('the one whose answer was lost is found once the others are known', async () => {
    const [ada, bo] = [randomUUID(), randomUUID()];
    const arrive = together(2);
    const { exitCode, home, stdout } = await batchAgainst(
      [
        creation('Ada', async (): Promise<Fault> => {
          await arrive();
          return 'reset-after-body';
        }),
        creation('Bo', async () => {
          await arrive();
          return succeeded(bo);
        }),
        {
          expect: { method: 'GET', path: '/runs' },
          answer: success({ rows: [listedRun(bo), listedRun(ada)], hasMore: false }),
          times: 'any',
        },
        { expect: { path: `/runs/${ada}` }, answer: succeeded(ada) },
      ],
      { flags: ['--concurrency', '2', '--json'], ...EXCLUSIVE },
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ succeeded: 2, inDoubt: 0 });
    expect(lastLines(home)).toMatchObject([{ runId: ada }, { runId: bo }]);
  });

  test('if two answers were lost and one run is found, neither row gets it', async () => {
    const arrive = together(2);
    const lostCreation = async (): Promise<Fault> => {
      await arrive();
      return 'reset-after-body';
    };
    const { exitCode, home, stderr } = await batchAgainst(
      [
        creation('Ada', lostCreation),
        creation('Bo', lostCreation),
        {
          expect: { method: 'GET', path: '/runs' },
          answer: success({ rows: [listedRun(randomUUID())], hasMore: false }),
          times: 'any',
        },
      ],
      { flags: ['--concurrency', '2'] },
    );
    expect(exitCode).toBe(5);
    expect(resultLines(home)).toEqual([]);
    expect(stderr.match(/It may be \S+ \(succeeded, created [^)]+\): promptrun runs wait/gu)).toHaveLength(2);
    expect(journalSteps(home).filter(({ candidates }) => candidates?.length === 1)).toHaveLength(2);
  });
});

test('says to correct rows that no other try would help', async () => {
  const faulty = await batchAgainst([creation('Bo', succeeded())], { rows: 'name\nAda,x\nBo\n' });
  expect(faulty.stderr).toContain(
    'Correct the faulty rows. Run the failed ones again with: --resume --retry-failed --new-rows\n',
  );
  const failed = { runId: randomUUID(), outputs: [], runStatus: 'failed', tokens: 1 };
  const unlucky = await batchAgainst([creation('Bo', success(failed))], { rows: 'name\nBo\n' });
  expect(unlucky.stderr).toContain('\nRun the failed ones again with: --resume --retry-failed\n');
});
