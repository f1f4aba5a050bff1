import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createTemporaryDirectory, runInProcess } from '../../../support/context.ts';
import { createHastyClock, waitUntilAborted } from '../../../support/hasty-clock.ts';
import {
  type Exchange,
  failure,
  startScriptedServiceForTest,
  success,
  versionLookup,
} from '../../../support/scripted-service.ts';
import { buildServiceEnv } from '../../../support/service-for-test.ts';

const VERSION = randomUUID();

const versionExchange: Exchange = { ...versionLookup(VERSION), times: 'any' };

const noRunsExchange: Exchange = {
  expect: { method: 'GET', path: '/runs' },
  answer: success({ rows: [], hasMore: false }),
  times: 'any',
};

function createHomeWithCases(...names: readonly string[]): string {
  const home = createTemporaryDirectory();
  mkdirSync(home, { recursive: true });
  const cases = names.map(name => `{ inputs: { name: ${name} } }`).join(', ');
  writeFileSync(path.join(home, 'a.test.yaml'), `target: ${VERSION}\ncases: [${cases}]\n`);
  return home;
}

it('leaves the cases that were not sent when a used-up quota ended the test', async () => {
  const quotaFailure = failure(429, 'TOO_MANY_REQUESTS_ERROR', 'used up', null, {
    'retry-after': '3600',
  });
  const service = await startScriptedServiceForTest(versionExchange, noRunsExchange, {
    expect: { method: 'POST', path: '/runs' },
    answer: quotaFailure,
  });
  let pauseCount = 0;
  const { exitCode, stdout, stderr } = await runInProcess(['test', '--rate', '1'], {
    home: createHomeWithCases('Ada', 'Bo', 'Cy'),
    env: buildServiceEnv(service.baseUrl),
    // After Ada's turn, nobody's comes.
    clock: createHastyClock((ms, signal) =>
      ms > 900 && ++pauseCount > 1 ? waitUntilAborted(signal) : undefined,
    ),
  });

  expect(exitCode).toBe(EXIT.rateLimited);
  expect(stdout()).toContain('3 could not be run');
  expect(
    stdout().match(/not run because of the fault above \(TOO_MANY_REQUESTS_ERROR\)/g),
  ).toHaveLength(2);
  expect(stderr()).toContain('error: used up; 3 cases left');
});

it('says how to run a case again whose creation may have made a run, and never does it unasked', async () => {
  const creation = { method: 'POST', path: '/runs' } as const;
  const run = { runId: randomUUID(), runStatus: 'succeeded', outputs: [], tokens: 1 };
  const service = await startScriptedServiceForTest(
    versionExchange,
    noRunsExchange,
    { expect: creation, answer: 'reset-after-body' },
    { expect: creation, answer: success(run) },
  );

  const home = createHomeWithCases('Ada');
  const env = buildServiceEnv(service.baseUrl);
  for (const flags of [[], ['--resume']]) {
    const { exitCode, stdout } = await runInProcess(['test', '-q', ...flags], {
      home,
      env,
      clock: createHastyClock(),
    });
    expect(stdout()).toContain('--resume --retry-unknown');
    expect(exitCode).toBe(EXIT.fault);
    const reason =
      flags.length === 0 ? 'no complete answer' : 'the creation of \\S+ was never answered';
    expect(stdout()).toMatch(new RegExp(`the answer to the creation was lost: ${reason}`, 'u'));
  }

  const retried = await runInProcess(['test', '--resume', '--retry-unknown'], {
    home,
    env,
    clock: createHastyClock(),
  });
  expect(retried.stderr()).toContain('note: --retry-unknown: 1 run may be paid for twice');
  expect(retried.exitCode).toBe(0);
});
