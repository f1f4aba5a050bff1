import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { lockFile } from '../../../src/files/writing/lock.ts';
import { toContainedPath } from '../../../src/files/writing/write-below.ts';
import { localService as embedded } from '../../../src/main.ts';
import { readLastLines, runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith, TEST_NOW } from '../../support/context.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { createHastyClock } from '../../support/hasty-clock.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';
import {
  formatFailedLine,
  formatSucceededLine,
  NAMES,
  SLEEPY,
  setUpBatchesToResume,
} from './batches-to-resume.ts';

const {
  service,
  runBatch,
  countCreatedRuns,
  resume,
  writeJournal,
  buildCreationStep,
  createRunOfZoe,
} = setUpBatchesToResume();

test('rows that succeeded stay as they are, and the others run', async () => {
  const { exitCode, home, stderr } = await resume(formatSucceededLine(1) + formatSucceededLine(3));
  expect(exitCode).toBe(0);
  expect(stderr).toContain('note: 1 of 3 rows succeeded now, 2 before\nnote: now: 1 run took ');
  expect(stderr).toMatch(/^note: in all: 3 runs took /mu);
  expect(await countCreatedRuns()).toBe(1);
  expect(readLastLines(home).map(({ runStatus }) => runStatus)).toEqual([
    'succeeded',
    'succeeded',
    'succeeded',
  ]);
});

test('a results file that does not exist yet is created', async () => {
  const home = createDirectoryWith({ 'names.csv': NAMES });
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];
  expect((await runBatch(args, { home })).exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(3);
});

test('rows that failed run again only with --retry-failed, and count as failed until then', async () => {
  const results = formatSucceededLine(1) + formatFailedLine(2) + formatSucceededLine(3);
  const left = await resume(results);

  expect(left.exitCode).toBe(EXIT.runFailed);
  expect(left.stderr).toContain(
    'note: 0 of 3 rows succeeded now, 2 before, 0 failed now, 1 before\n',
  );
  expect(left.stderr).toContain('note: now: no run was made\nnote: in all: 2 runs took ');
  expect(await countCreatedRuns()).toBe(0);

  const { exitCode, home } = await resume(results, ['--retry-failed']);
  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
  expect(readLastLines(home)[1]).toMatchObject({ row: 2, runStatus: 'succeeded' });
});

test('a creation in doubt is sent once more under its key, which returns the same run', async () => {
  const step = await buildCreationStep(2, 'Bo');
  const { journalId, promptVersionId } = step as { journalId: string; promptVersionId: string };
  await fetch(`${service().service.url}/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service().service.sessionKey}`,
      'content-type': 'application/json',
      'idempotency-key': journalId,
    },
    body: JSON.stringify({ promptVersionId, inputs: { textInputs: { name: 'Bo' } } }),
  });

  const time = new Date(TEST_NOW - 60_000).toISOString();
  const { exitCode, home } = await resume(formatSucceededLine(1) + formatSucceededLine(3), [], {
    steps: [{ ...step, time }],
  });

  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
  expect(readLastLines(home)[1]?.outputs?.[0]?.data).toContain('Bo');
  expect(existsSync(path.join(home, 'results.jsonl.journal'))).toBe(false);
});

test('a creation in doubt that made no run fails its row once its key has expired', async () => {
  const step = await buildCreationStep(2, 'Bo');
  const time = new Date(TEST_NOW - 30 * 3_600_000).toISOString();
  const { exitCode, stderr } = await resume(formatSucceededLine(1) + formatSucceededLine(3), [], {
    steps: [{ ...step, time }],
  });

  expect(exitCode).toBe(EXIT.runFailed);
  expect(await countCreatedRuns()).toBe(0);
  expect(stderr).toContain(
    'error: names.csv line 3 (row 2): the creation was never answered, and the service has no matching run (NOT_FOUND_ERROR)\nnote: ',
  );
});

test('a row whose creation was refused before a crash is not in doubt', async () => {
  const steps = [await buildCreationStep(2, 'Bo'), { row: 2, id: '2', state: 'waiting' }];
  expect(
    (await resume(formatSucceededLine(1) + formatSucceededLine(3), [], { steps })).exitCode,
  ).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
});

test('a row whose run is known is waited for, not created', async () => {
  const runId = await createRunOfZoe();
  const steps = [await buildCreationStep(2, 'Bo'), { row: 2, id: '2', state: 'running', runId }];
  const { exitCode, home } = await resume(formatSucceededLine(1) + formatSucceededLine(3), [], {
    steps,
  });
  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
  expect(readLastLines(home)[1]).toMatchObject({ runId, runStatus: 'succeeded' });
  expect(readLastLines(home)[1]?.outputs?.[0]?.data).toContain('Zoe');
});

test("a run that only the machine's journal knows is waited for", async () => {
  const runId = await createRunOfZoe();
  const step = await buildCreationStep(2, 'Bo');
  const { journalId: id, time, promptVersionId } = step as Record<string, string>;
  const home = createDirectoryWith({
    'names.csv': NAMES,
    'results.jsonl': formatSucceededLine(1) + formatSucceededLine(3),
  });
  writeJournal(home, promptVersionId ?? '', [step]);
  mkdirSync(path.join(home, 'state'));
  const entry = { id, time, baseUrl: service().service.url, promptVersionId, inputsDigest: '' };
  const lines = [entry, { id, outcome: 'created', runId }].map(line => `${JSON.stringify(line)}\n`);
  writeFileSync(path.join(home, 'state', 'journal.jsonl'), lines.join(''));
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];

  expect((await runBatch(args, { home })).exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
  expect(readLastLines(home)[1]).toMatchObject({ runId });
});

test('a result that a crash kept from the file is fetched, not paid for again', async () => {
  const runId = await createRunOfZoe();
  const steps = [
    await buildCreationStep(2, 'Bo'),
    { row: 2, id: '2', state: 'succeeded', runId, error: null },
  ];
  const { exitCode, home } = await resume(formatSucceededLine(1) + formatSucceededLine(3), [], {
    steps,
  });

  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
  expect(readLastLines(home)[1]).toMatchObject({ runId, runStatus: 'succeeded' });
});

test('a run that the service no longer has fails its row, and --retry-failed looks for it again', async () => {
  const steps = [
    await buildCreationStep(2, 'Bo'),
    { row: 2, id: '2', state: 'running', runId: randomUUID() },
  ];
  const { exitCode, home } = await resume(formatSucceededLine(1) + formatSucceededLine(3), [], {
    steps,
  });

  expect(exitCode).toBe(EXIT.runFailed);
  expect(readLastLines(home)[1]).toMatchObject({ runStatus: 'failed' });
  expect(readLastLines(home)[1]?.error).toContain('NOT_FOUND_ERROR');

  const args = [
    'hello',
    '--from',
    'names.csv',
    '--out',
    'results.jsonl',
    '--resume',
    '--retry-failed',
  ];
  expect((await runBatch(args, { home })).exitCode).toBe(EXIT.runFailed);
  expect(await countCreatedRuns()).toBe(0);
});

test('--resume --dry-run checks and prices only the rows that are left, and changes no file', async () => {
  const home = createDirectoryWith({ 'names.csv': NAMES, 'results.jsonl': formatSucceededLine(1) });
  const options = { home, env: {}, local: embedded };
  const args = [
    'hello',
    '--from',
    'names.csv',
    '--out',
    'results.jsonl',
    '--resume',
    '--new-rows',
    '--dry-run',
  ];
  const { exitCode, stderr, stdout } = await runBatchCommand([...args, '--json'], options);

  expect(exitCode, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 2, creations: 2 });
  expect(stderr).toContain(
    '2 rows checked, 0 invalid, 1 more stay as they are; nothing was created',
  );
  expect(readdirSync(home).filter(name => name.startsWith('results'))).toEqual(['results.jsonl']);
  expect(readLastLines(home)).toHaveLength(1);
});

test('--resume starts no new batch if the name of the results is misspelt', async () => {
  const home = createDirectoryWith({
    'names.csv': NAMES,
    'results.jsonl': formatSucceededLine(1) + formatSucceededLine(2) + formatSucceededLine(3),
  });
  const args = ['hello', '--from', 'names.csv', '--out', 'resluts.jsonl', '--resume'];

  expect(await runBatch(args, { home })).toMatchObject({
    exitCode: EXIT.usage,
    stderr: expect.stringContaining(
      'error: --resume: resluts.jsonl does not exist; did you mean results.jsonl?',
    ),
  });

  expect(await countCreatedRuns()).toBe(0);
});

test('--resume starts a new batch, with a note, if its results have a name of their own', async () => {
  const home = createDirectoryWith({ 'names.csv': NAMES, 'results.jsonl': '' });
  const args = ['hello', '--from', 'names.csv', '--out', 'others.jsonl', '--resume'];
  const { exitCode, stderr } = await runBatch(args, { home });
  expect(exitCode).toBe(0);
  expect(stderr).toContain('note: others.jsonl does not exist, so no row has been run before');
});

test.each(['others2.jsonl', 'othere.jsonl'])(
  '--resume does not take %s for a misspelt others.jsonl, since parts of a batch have such names',
  async out => {
    const home = createDirectoryWith({ 'names.csv': NAMES, 'others.jsonl': '' });
    const args = ['hello', '--from', 'names.csv', '--out', out, '--resume'];
    expect((await runBatch(args, { home })).exitCode).toBe(0);
  },
);

test('a second batch on the same file is refused while the first one runs', async () => {
  const home = createDirectoryWith({ 'rows.jsonl': '{"note":"a"}\n' });
  const args = [...SLEEPY, '--resume'];

  // Its creation is answered at once, and it asks for its run only once the second batch has ended.
  const serviceClock = new HandClock();
  const { env, runs } = await startServiceForTest({ syncWindowMs: 0, clock: serviceClock });
  let letFirstContinue = (): void => {};
  const secondRefused = new Promise<void>(resolve => {
    letFirstContinue = resolve;
  });
  const clock = createHastyClock(() => secondRefused.then(() => serviceClock.advance(1000)));
  const first = runBatchCommand(args, { env, home, clock });

  await expect
    .poll(() => readIfExists(path.join(home, 'results.jsonl.journal')))
    .toContain('creating');

  const second = await runBatchCommand(args, { env, home });
  letFirstContinue();

  expect(second.exitCode).toBe(EXIT.usage);
  expect(second.stderr).toContain('another batch is writing to results.jsonl');
  expect((await first).exitCode).toBe(0);
  expect(await runs()).toHaveLength(1);
  expect((await runBatchCommand(args, { env, home })).exitCode).toBe(0);
});

test('a batch waits up to a second for the lock of a process that is being killed', async () => {
  const home = createDirectoryWith({ 'rows.csv': 'name\nAda\n' });
  const lock = lockFile(toContainedPath(path.join(home, 'results.jsonl')));
  const args = ['hello', '--from', 'rows.csv', '--out', 'results.jsonl'];
  const clock = createHastyClock(async () => lock?.());
  const { exitCode } = await runBatch(args, { home, clock });
  expect(exitCode).toBe(0);
});

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

test('an output that could not be saved is fetched again, and its run is not created again', async () => {
  const home = createDirectoryWith({ 'rows.csv': 'place\nLisbon\n' });

  // A name that the file system does not take.
  const pictures = 'p'.repeat(300);
  const args = ['postcard', '--from', 'rows.csv', '--out', 'results.jsonl', '--save', pictures];
  const first = await runBatch(args, { home });

  expect(first.exitCode).toBe(EXIT.runFailed);
  expect(readLastLines(home)[0]).toMatchObject({ runStatus: 'succeeded' });
  expect(readLastLines(home)[0]?.error).toMatch(
    /not all of its outputs were saved: .*\(FILE_ERROR\)$/u,
  );

  const second = await runBatch([...args.slice(0, -1), 'other', '--resume'], {
    home,
  });
  expect(second.exitCode).toBe(0);
  expect(readLastLines(home)[0]?.outputs?.[0]?.savedTo).toMatch(/^other/u);
  expect(await countCreatedRuns()).toBe(1);
});
