import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import {
  readJournalSteps,
  readLastLines,
  readResultLines,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { createHastyClock } from '../../support/hasty-clock.ts';
import {
  failure,
  type PlainAnswer,
  startScriptedService,
  success,
} from '../../support/scripted-service.ts';
import { buildServiceEnv } from '../../support/service-for-test.ts';
import {
  creation,
  creditsList,
  HOUR_MS,
  listJournalStates,
  runBatchAgainst,
  succeededAnswer,
  VERSION,
  versionExchange,
} from './batch-against.ts';

test('a refusal by the service fails its row, and the others continue', async () => {
  const { exitCode, home, stderr } = await runBatchAgainst([
    creation('Ada', failure(422, 'VALIDATION_ERROR', 'not like that', ['name is too short'])),
    creation('Bo', succeededAnswer()),
  ]);
  expect(exitCode).toBe(EXIT.runFailed);
  expect(stderr).toContain('error: names.csv line 2 (row 1): not like that (VALIDATION_ERROR)');
  expect(stderr).toContain('  "name is too short"');
  expect(readLastLines(home)[0]).toMatchObject({
    runStatus: 'failed',
    error: 'not like that (VALIDATION_ERROR)',
  });
});

test('a refused key ends the batch, and leaves the refused row waiting for --resume', async () => {
  const { exitCode, home, stderr, service } = await runBatchAgainst(
    [
      creation('Ada', succeededAnswer()),
      creation('Bo', failure(401, 'UNAUTHORIZED_ERROR', 'who are you')),
    ],
    { rows: 'name\nAda\nBo\nEve\n' },
  );
  expect(exitCode).toBe(EXIT.unauthorised);

  service.verify();
  expect(stderr).toContain('error: who are you; 2 rows left (UNAUTHORIZED_ERROR)');
  expect(stderr.match(/who are you/gu)).toHaveLength(1);
  expect(readLastLines(home)).toHaveLength(1);
  expect(listJournalStates(home)).toEqual(['creating', 'succeeded', 'creating', 'waiting']);
});

/** Returns the base URL of a service that returns the version, and then no longer listens. */
async function startServiceThatGoesAway(): Promise<string> {
  const server = createServer((_, response) => {
    const { body } = versionExchange.answer as PlainAnswer;
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(body));
    server.close();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test('an account without credits ends the batch', async () => {
  const { exitCode, home, stderr, service } = await runBatchAgainst(
    [creation('Ada', failure(402, 'PAYMENT_REQUIRED_ERROR', 'no credits'))],
    { rows: `name\n${'Ada\n'.repeat(100)}` },
  );
  expect(exitCode).toBe(EXIT.unauthorised);

  service.verify();
  expect(stderr).toContain('error: no credits; 100 rows left (PAYMENT_REQUIRED_ERROR)');
  expect(readLastLines(home)).toEqual([]);
});

test.each([
  { rowCount: 100, createdCount: 10 },
  { rowCount: 3, createdCount: 3 },
])(
  'a service that no creation reaches ends a batch of $rowCount rows after $createdCount',
  async ({ rowCount, createdCount }) => {
    const home = createDirectoryWith({ 'names.csv': `name\n${'Ada\n'.repeat(rowCount)}` });
    const { exitCode, stderr } = await runBatchCommand(
      [VERSION, '--from', 'names.csv', '--out', 'results.jsonl', '--concurrency', '1'],
      { home, env: buildServiceEnv(await startServiceThatGoesAway()) },
    );

    expect(exitCode).toBe(EXIT.fault);
    expect(stderr.match(/connection refused/gu)).toHaveLength(1);
    expect(stderr).toContain(`; ${rowCount} rows left (NETWORK_ERROR)`);
    expect(stderr).toContain('--resume');
    expect(new Set(readJournalSteps(home).map(({ row }) => row)).size).toBe(createdCount);
    expect(readLastLines(home)).toEqual([]);
  },
);

test('the journal keeps the id of a run that is still running at --timeout', async () => {
  const runId = randomUUID();
  let resolvePolled = (): void => {};
  const polled = new Promise<void>(resolve => {
    resolvePolled = resolve;
  });
  const { exitCode, home, stderr } = await runBatchAgainst(
    [
      creation('Ada', failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still going', { runId })),
      {
        expect: { path: `/runs/${runId}` },
        answer: () => {
          resolvePolled();
          return success({ runId, outputs: [], runStatus: 'running', tokens: 0 });
        },
        times: 'any',
      },
    ],
    {
      rows: 'name\nAda\n',
      flags: ['--timeout', '1h'],
      clock: createHastyClock(ms => (ms === HOUR_MS ? polled : undefined)),
    },
  );

  expect(exitCode).toBe(EXIT.waitTimeout);
  expect(readResultLines(home)).toEqual([]);
  expect(readJournalSteps(home).at(-1)).toMatchObject({ state: 'running', runId });
  expect(stderr).toContain(
    'error: gave up waiting; 0 of 1 rows succeeded, 1 not done (WAIT_TIMEOUT)',
  );
  expect(stderr).toContain('To continue, add --resume to the same command');
});

test('a creation is in the journal before the service gets it', async () => {
  let statesAtCreation: string[] = [];
  const home = createDirectoryWith({ 'names.csv': 'name\nAda\n' });
  const service = await startScriptedService([
    versionExchange,
    creation('Ada', () => {
      statesAtCreation = listJournalStates(home);
      return succeededAnswer();
    }),
  ]);
  onTestFinished(() => service.close());
  await runBatchCommand([VERSION, '--from', 'names.csv', '--out', 'results.jsonl'], {
    env: buildServiceEnv(service.baseUrl),
    home,
  });

  expect(statesAtCreation).toEqual(['creating']);
});

test('the version is read once for all rows', async () => {
  const { service } = await runBatchAgainst([
    creation('Ada', succeededAnswer()),
    creation('Bo', succeededAnswer()),
  ]);
  const paths = service.calls
    .filter(({ method }) => method === 'GET')
    .map(({ path: requestedPath }) => requestedPath);
  expect(paths).toEqual([`/prompt-versions/${VERSION}`, '/runs']);
});

test("an id that is a prompt's runs its latest version", async () => {
  const promptId = randomUUID();
  const service = await startScriptedService([
    {
      expect: { path: `/prompt-versions/${promptId}` },
      answer: failure(404, 'NOT_FOUND_ERROR', 'none'),
    },
    {
      expect: { path: `/prompts/${promptId}` },
      answer: success({
        promptVersionId: VERSION,
        promptId,
        title: 't',
        publishedAt: '',
        config: {},
      }),
    },
    {
      expect: {
        method: 'POST',
        body: body => (body as { promptVersionId: string }).promptVersionId === VERSION,
      },
      answer: succeededAnswer(),
    },
    creditsList,
  ]);
  onTestFinished(() => service.close());
  const home = createDirectoryWith({ 'names.csv': 'name\nAda\n' });
  const args = [promptId, '--from', 'names.csv', '--out', 'results.jsonl'];
  const { exitCode, stderr } = await runBatchCommand(args, {
    env: buildServiceEnv(service.baseUrl),
    home,
  });

  expect(exitCode).toBe(0);
  expect(stderr).toContain(`${promptId} is a prompt`);

  service.verify();
});

test('a row that is only polled lets the next row be created', async () => {
  const runId = randomUUID();
  let otherCreationCount = 0;
  const { exitCode, home } = await runBatchAgainst([
    creation('Ada', failure(504, 'GATEWAY_TIMEOUT_ERROR', 'still going', { runId })),
    creation('Bo', () => {
      otherCreationCount += 1;
      return succeededAnswer();
    }),
    {
      expect: { path: `/runs/${runId}` },
      answer: () =>
        success({
          runId,
          outputs: [],
          runStatus: otherCreationCount === 0 ? 'running' : 'succeeded',
          tokens: 1,
        }),
      times: 'any',
    },
  ]);

  expect(exitCode).toBe(0);
  expect(readResultLines(home).map(({ row }) => row)).toEqual([2, 1]);
});

test('a faulty row comes with the advice to correct it', async () => {
  const { stderr } = await runBatchAgainst([creation('Bo', succeededAnswer())], {
    rows: 'name\nAda,x\nBo\n',
  });
  expect(stderr).toContain(
    'Correct the faulty rows. Run the failed ones again with: --resume --retry-failed --new-rows\n',
  );
});

test('a failed run comes with the advice to run its row again', async () => {
  const failedRun = { runId: randomUUID(), outputs: [], runStatus: 'failed', tokens: 1 };
  const { stderr } = await runBatchAgainst([creation('Bo', success(failedRun))], {
    rows: 'name\nBo\n',
  });
  expect(stderr).toContain('\nRun the failed ones again with: --resume --retry-failed\n');
});
