import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import { readLastLines, runBatchCommand } from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { HandClock } from '../../support/hand-clock.ts';
import { createHastyClock } from '../../support/hasty-clock.ts';
import { startServiceForTest } from '../../support/service-for-test.ts';
import { formatSucceededLine, NAMES, SLEEPY, setUpBatchesToResume } from './batches-to-resume.ts';

const { runBatch, countCreatedRuns, resume, writeJournal, findVersion } = setUpBatchesToResume();

test.each([
  ['without its id', '{"row":2,"id'],
  ['without its end', formatSucceededLine(2).slice(0, -20)],
  ['with only its first character', '{'],
])('a last line that a crash left %s is cut off', async (_, torn) => {
  const { exitCode, home, stderr } = await resume(
    formatSucceededLine(1) + formatSucceededLine(3) + torn,
  );
  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
  expect(stderr).toContain('has been repaired');
  expect(readLastLines(home)).toHaveLength(3);
});

test('a torn last line of the journal counts as a step that was not taken', async () => {
  const home = createDirectoryWith({
    'names.csv': NAMES,
    'results.jsonl': formatSucceededLine(1) + formatSucceededLine(3),
  });
  writeJournal(home, await findVersion('hello'), []);
  appendFileSync(path.join(home, 'results.jsonl.journal'), '{"row":2,"id":"2","state":"crea');
  const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl', '--resume'];
  expect((await runBatch(args, { home })).exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
});

test('a last line that lacks only its line break counts as a result', async () => {
  const { exitCode } = await resume(
    formatSucceededLine(1) + formatSucceededLine(3) + formatSucceededLine(2).trimEnd(),
  );
  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(0);
});

test.each([
  ['another kind of file', 'name\nAda\n'],
  ['another kind of file without an end', 'dear diary'],
  ['JSON of another kind', '{"a":1}\n'],
  ['one bad line among good ones', '{"row":1,"id":"1","runStatus":"failed"}\noops\n'],
])('%s is refused and stays unchanged', async (_, content) => {
  const { exitCode, stderr, home } = await resume(content);
  expect(exitCode).toBe(EXIT.usage);
  expect(stderr).toContain('this is not a result of a batch');
  expect(readFileSync(path.join(home, 'results.jsonl'), 'utf8')).toBe(content);
});

test('a table with a run of a row that is missing in the input is refused and stays unchanged', async () => {
  const table = 'name,runId,runStatus,error,output1\nAda,r1,succeeded,,Hi\n';
  const home = createDirectoryWith({ 'rows.csv': 'name\nGrace\n', 'results.csv': table });
  const args = ['hello', '--from', 'rows.csv', '--out', 'results.csv', '--resume', '--new-rows'];
  const { exitCode, stderr } = await runBatchCommand(args, { home, env: {}, local: embedded });
  expect(exitCode).toBe(EXIT.usage);
  expect(stderr).toContain('results.csv has a result of run r1, which is not in rows.csv');
  expect(readFileSync(path.join(home, 'results.csv'), 'utf8')).toBe(table);
});

test.each([
  ['results.jsonl', 'moved or removed', undefined],
  ['results.jsonl', 'replaced', ''],
  ['results.csv', 'moved or removed', undefined],
])(
  'results in %s that are %s while the batch runs are fetched again without a run',
  async (out, change, replacement) => {
    const home = createDirectoryWith({ 'rows.jsonl': '{"note":"a"}\n' });
    const file = path.join(home, out);
    const args = SLEEPY.map(arg => (arg === 'results.jsonl' ? out : arg));
    const serviceClock = new HandClock();
    const { env, runs } = await startServiceForTest({ syncWindowMs: 0, clock: serviceClock });
    const clock = createHastyClock(async () => {
      rmSync(file, { force: true });
      if (replacement !== undefined) writeFileSync(file, replacement);
      serviceClock.advance(1000);
    });
    const first = await runBatchCommand(args, { env, home, clock });

    expect(first.exitCode).toBe(EXIT.fault);
    expect(first.stderr).toContain(`${out} was ${change} while the batch wrote it`);
    expect(first.stderr).toContain('add --resume');

    const second = await runBatchCommand([...args, '--resume'], { env, home });
    expect(second.exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('succeeded');
    expect(await runs()).toHaveLength(1);
  },
);
