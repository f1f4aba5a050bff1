import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import {
  type BatchResult,
  readJournalSteps,
  readLastLines,
  readResultLines,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import {
  type Exchange,
  type Fault,
  failure,
  keepingKeys,
  startScriptedService,
  success,
} from '../../support/scripted-service.ts';
import { buildServiceEnv } from '../../support/service-for-test.ts';
import {
  creation,
  EXCLUSIVE_KEY,
  emptyRunList,
  runBatchAgainst,
  succeededAnswer,
  VERSION,
  versionExchange,
} from './batch-against.ts';

/** Returns a run as the list has it, created just now. */
function buildListedRun(runId: string): object {
  return {
    runId,
    promptVersionId: VERSION,
    outputs: [],
    runStatus: 'running',
    credits: null,
    runName: '',
    createdAt: new Date().toISOString(),
  };
}

describe('a creation without an answer', () => {
  test('ends the command with exit 1 only if no other request was answered either', async () => {
    const rows = 'name\nAda\nBo\n';
    const home = createDirectoryWith({ 'names.csv': rows });
    const service = await startScriptedService([
      versionExchange,
      creation('Ada', 'reset-after-body', 2),
      creation('Bo', 'reset-after-body', 2),
      { ...emptyRunList, answer: 'reset-after-body' },
    ]);
    onTestFinished(() => service.close());

    const run = (out: string): Promise<BatchResult> =>
      runBatchCommand([VERSION, '--from', 'names.csv', '--out', out], {
        home,
        env: buildServiceEnv(service.baseUrl),
      });

    expect((await run('first.jsonl')).exitCode).toBe(EXIT.runFailed);

    // The version is cached by now, so that only creations and the look for their runs are sent.
    expect((await run('second.jsonl')).exitCode).toBe(EXIT.fault);
  });

  test('is in doubt and not sent again, and the other rows continue', async () => {
    const { exitCode, home, stderr, service } = await runBatchAgainst([
      creation('Ada', 'reset-after-body'),
      emptyRunList,
      creation('Bo', succeededAnswer()),
    ]);
    expect(exitCode).toBe(EXIT.runFailed);

    service.verify();
    expect(readLastLines(home)).toMatchObject([{ row: 2, runStatus: 'succeeded' }]);
    expect(readJournalSteps(home)).toContainEqual({ row: 1, id: '1', candidates: [] });
    expect(stderr).toContain('1 in doubt');
    expect(stderr).toContain('Look for it with: promptrun runs list --since 2026-');
    expect(stderr.match(/Look for it/g)).toHaveLength(1);
    expect(stderr).toContain('--retry-unknown');
  });

  test('is reported with the runs that match', async () => {
    const runIds = [randomUUID(), randomUUID()];

    const { stderr } = await runBatchAgainst([
      creation('Ada', 'reset-after-body'),
      {
        expect: { method: 'GET', path: '/runs' },
        answer: () => success({ rows: runIds.map(buildListedRun), hasMore: false }),
        times: 'any',
      },
      creation('Bo', succeededAnswer()),
    ]);
    for (const runId of runIds) expect(stderr).toContain(`promptrun runs wait ${runId}`);

    expect(stderr).not.toContain('No matching run was found');
  });

  test('is not reported as one without a run if the list could not be read', async () => {
    const { stderr, exitCode } = await runBatchAgainst([
      creation('Ada', 'reset-after-body'),
      { ...emptyRunList, answer: failure(400, 'VALIDATION_ERROR', 'no list') },
      creation('Bo', succeededAnswer()),
    ]);
    expect(exitCode).toBe(EXIT.runFailed);
    expect(stderr).not.toContain('No matching run was found');
    expect(stderr).toContain('promptrun runs list --since');
  });

  test('is taken for the only run that matches if nobody else uses the key', async () => {
    const runId = randomUUID();

    const { exitCode, home } = await runBatchAgainst(
      [
        creation('Ada', 'reset-after-body'),
        {
          expect: { method: 'GET', path: '/runs' },
          answer: () => success({ rows: [buildListedRun(runId)], hasMore: false }),
          times: 'any',
        },
        { expect: { path: `/runs/${runId}` }, answer: succeededAnswer(runId) },
        creation('Bo', succeededAnswer()),
      ],
      EXCLUSIVE_KEY,
    );
    expect(exitCode).toBe(0);
    expect(readLastLines(home)[0]).toMatchObject({
      runStatus: 'succeeded',
      runId,
      recovered: true,
    });
  });

  test('fails its row if the service answers with its own fault, although a run may exist', async () => {
    const script = [
      creation('Ada', failure(500, 'SERVER_ERROR', 'oh no')),
      creation('Bo', succeededAnswer()),
    ];
    const { exitCode, home } = await runBatchAgainst(script);

    expect(exitCode).toBe(EXIT.runFailed);
    expect(readLastLines(home)[0]).toMatchObject({ runStatus: 'failed', runId: null });
    expect(readLastLines(home)[0]?.error).toBe(
      'oh no; it may have created a run anyway (SERVER_ERROR)',
    );

    const again = await runBatchAgainst([creation('Ada', succeededAnswer())], {
      home,
      flags: ['--resume', '--retry-failed'],
    });
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('--retry-failed: 1 run may be paid for twice');
  });

  test('fails its row with the same words if the code of the fault is unusual', async () => {
    const { home } = await runBatchAgainst([
      creation('Ada', failure(500, 'SERVER_ERROR (7)', 'oh no')),
      creation('Bo', succeededAnswer()),
    ]);

    expect(readLastLines(home)[0]?.error).toBe(
      'oh no (SERVER_ERROR (7)); it may have created a run anyway',
    );
  });

  test('is sent again under its key if the service keeps keys', async () => {
    const script = [
      creation('Ada', 'reset-after-body'),
      creation('Ada', keepingKeys(failure(500, 'SERVER_ERROR', 'oh no'))),
      creation('Ada', keepingKeys(succeededAnswer())),
      creation('Bo', keepingKeys(succeededAnswer())),
    ];
    const { exitCode, home, service } = await runBatchAgainst(script, { version: keepingKeys });

    expect(exitCode).toBe(0);

    service.verify();
    const [, ...creationsOfAda] = service.calls.slice(0, 4);
    const keys = creationsOfAda.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.any(String), keys[0], keys[0]]);
    expect(readLastLines(home)).toMatchObject([
      { runStatus: 'succeeded' },
      { runStatus: 'succeeded' },
    ]);
  });

  test('stays in doubt when the batch resumes, and is sent again only with --retry-unknown', async () => {
    const { home } = await runBatchAgainst([
      creation('Ada', 'reset-after-body'),
      emptyRunList,
      creation('Bo', succeededAnswer()),
    ]);
    const left = await runBatchAgainst([emptyRunList], {
      home,
      flags: ['--resume', '--retry-failed'],
    });

    expect(left.exitCode).toBe(EXIT.runFailed);
    expect(left.stderr).toContain('1 in doubt');

    const script = [emptyRunList, creation('Ada', succeededAnswer())];
    const again = await runBatchAgainst(script, {
      home,
      flags: ['--resume', '--retry-unknown'],
    });

    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('--retry-unknown: 1 run may be paid for twice');
    expect(readLastLines(home)).toHaveLength(2);
  });

  test('reads at most two pages of the list of runs, however long the list is', async () => {
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
      answer: () =>
        success({ rows: rows.map(row => ({ ...row, runId: randomUUID() })), hasMore: true }),
      times: 'any',
    };

    const { service } = await runBatchAgainst([
      creation('Ada', 'reset-after-body'),
      creation('Bo', succeededAnswer()),
      pages,
    ]);
    expect(
      service.calls.filter(({ method, path }) => method === 'GET' && path === '/runs'),
    ).toHaveLength(2);
  });
});

describe('several creations at a time', () => {
  const listSucceededRun = (runId: string): object => ({
    ...buildListedRun(runId),
    runStatus: 'succeeded',
  });

  /** Returns a function whose promises resolve together, once it was called `count` times. */
  function createBarrier(count: number): () => Promise<void> {
    let arrivedCount = 0;
    let open = (): void => {};
    const allArrived = new Promise<void>(resolve => {
      open = resolve;
    });

    return () => {
      arrivedCount += 1;
      if (arrivedCount === count) open();
      return allArrived;
    };
  }

  test('the run of a lost answer is found once the runs of the others are known', async () => {
    const [ada, bo] = [randomUUID(), randomUUID()];
    const arrive = createBarrier(2);
    const { exitCode, home, stdout } = await runBatchAgainst(
      [
        creation('Ada', async (): Promise<Fault> => {
          await arrive();
          return 'reset-after-body';
        }),
        creation('Bo', async () => {
          await arrive();
          return succeededAnswer(bo);
        }),
        {
          expect: { method: 'GET', path: '/runs' },
          answer: () => success({ rows: [bo, ada].map(listSucceededRun), hasMore: false }),
          times: 'any',
        },
        { expect: { path: `/runs/${ada}` }, answer: succeededAnswer(ada) },
      ],
      { flags: ['--concurrency', '2', '--json'], ...EXCLUSIVE_KEY },
    );

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ succeeded: 2, inDoubt: 0 });
    expect(readLastLines(home)).toMatchObject([{ runId: ada }, { runId: bo }]);
  });

  test('if two answers were lost and one run is found, neither row gets it', async () => {
    const arrive = createBarrier(2);
    const loseCreation = async (): Promise<Fault> => {
      await arrive();
      return 'reset-after-body';
    };

    const { exitCode, home, stderr } = await runBatchAgainst(
      [
        creation('Ada', loseCreation),
        creation('Bo', loseCreation),
        {
          expect: { method: 'GET', path: '/runs' },
          answer: () => success({ rows: [listSucceededRun(randomUUID())], hasMore: false }),
          times: 'any',
        },
      ],
      { flags: ['--concurrency', '2'] },
    );
    expect(exitCode).toBe(EXIT.runFailed);
    expect(readResultLines(home)).toEqual([]);
    expect(
      stderr.match(/It may be \S+ \(succeeded, created [^)]+\): promptrun runs wait/gu),
    ).toHaveLength(2);
    expect(
      readJournalSteps(home).filter(({ candidates }) => candidates?.length === 1),
    ).toHaveLength(2);
  });
});
