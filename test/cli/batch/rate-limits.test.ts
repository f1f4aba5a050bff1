import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { readJournalSteps, readLastLines } from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { createHastyClock, waitUntilAborted } from '../../support/hasty-clock.ts';
import { type Call, failure, type PlainAnswer } from '../../support/scripted-service.ts';
import {
  createGate,
  creation,
  listJournalStates,
  runBatchAgainst,
  succeededAnswer,
  TOO_MANY,
} from './batch-against.ts';

describe('too many requests', () => {
  test('a creation that got a 429 is sent again, and a note says that it waits', async () => {
    let steps: string[] = [];
    const keys = new Set<unknown>();
    const answerAndKeepKey = (answer: PlainAnswer) => (call: Call) => {
      keys.add(call.headers['idempotency-key']);
      return answer;
    };

    const home = createDirectoryWith({ 'names.csv': 'name\nAda\nBo\n' });
    const script = [
      creation('Ada', answerAndKeepKey(TOO_MANY), 2),
      creation('Ada', answerAndKeepKey(succeededAnswer())),
      creation('Bo', () => {
        steps = listJournalStates(home);
        return succeededAnswer();
      }),
    ];
    const { exitCode, service } = await runBatchAgainst(script, { home });

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

  test('a row fails after ten attempts', async () => {
    const { exitCode, home, service } = await runBatchAgainst([
      creation('Ada', TOO_MANY, 10),
      creation('Bo', succeededAnswer()),
    ]);
    expect(exitCode).toBe(EXIT.runFailed);

    service.verify();
    expect(readLastLines(home)).toMatchObject([
      { runStatus: 'failed', runId: null },
      { runStatus: 'succeeded' },
    ]);
    expect(readLastLines(home)[0]?.error).toContain('TOO_MANY_REQUESTS_ERROR');
  });

  test('a retry-after of an hour ends the batch, which --resume continues', async () => {
    const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '3600' });
    const { exitCode, home, stderr } = await runBatchAgainst([creation('Ada', later)]);
    expect(exitCode).toBe(EXIT.rateLimited);
    expect(stderr).toContain('error: later; 2 rows left (TOO_MANY_REQUESTS_ERROR)');
    expect(stderr).toContain('--resume');
    expect(readLastLines(home)).toEqual([]);
    expect(listJournalStates(home)).toEqual(['creating', 'waiting']);
  });

  test('a retry-after beyond --timeout ends the batch at once', async () => {
    const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '50' });
    const clock = createHastyClock((ms, signal) =>
      ms === 10_000 ? waitUntilAborted(signal) : undefined,
    );
    const { exitCode, home, stderr } = await runBatchAgainst([creation('Ada', later)], {
      clock,
      flags: ['--timeout', '10s'],
    });

    expect(exitCode).toBe(EXIT.waitTimeout);
    expect(stderr).toContain('after the time of --timeout; 2 rows left (WAIT_TIMEOUT)');
    expect(stderr).not.toContain('waiting 50 s');
    expect(readLastLines(home)).toEqual([]);
    expect(listJournalStates(home)).toEqual(['creating', 'waiting']);
  });

  test('rows that wait for a turn or another attempt are not sent after the batch has ended', async () => {
    const later = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'later', null, { 'retry-after': '3600' });
    const soon = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'soon', null, { 'retry-after': '50' });
    const gates = [createGate(), createGate()];
    let sleepCount = 0;
    const clock = createHastyClock((ms, signal) => {
      if (ms < 40_000 || sleepCount === gates.length) return undefined;
      gates[sleepCount]?.open();
      sleepCount += 1;
      return waitUntilAborted(signal);
    });

    const script = [
      creation('Ada', soon),
      creation('Bo', () => gates[1]?.opened.then(() => later) ?? later),
      creation('Dee', () => gates[0]?.opened.then(() => succeededAnswer()) ?? succeededAnswer()),
    ];

    const { exitCode, stderr, home, service } = await runBatchAgainst(script, {
      rows: 'name\nAda\nBo\nDee\nCy\n',
      clock,
      flags: ['--concurrency', '3'],
    });
    expect(exitCode).toBe(EXIT.rateLimited);
    expect(stderr).toContain('error: later; 3 rows left (TOO_MANY_REQUESTS_ERROR)');

    service.verify();
    const lastStates = new Map(readJournalSteps(home).map(({ id, state }) => [id, state]));

    expect([...lastStates].sort()).toEqual([
      ['1', 'waiting'],
      ['2', 'waiting'],
      ['3', 'succeeded'],
      // The fourth waited for its turn: the journal names only what may have been sent.
    ]);
  });
});
