import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { localService as embedded } from '../../../src/main.ts';
import {
  type BatchResult,
  readLastLines,
  readResultLines,
  runBatchCommand,
} from '../../support/batch-command.ts';
import { createDirectoryWith } from '../../support/context.ts';
import {
  formatFailedLine,
  formatSucceededLine,
  NAMES,
  setUpBatchesToResume,
} from './batches-to-resume.ts';

const { runBatch, countCreatedRuns, resume, writeJournal, findVersion, buildCreationStep } =
  setUpBatchesToResume();

describe('rows that have changed since they were sent', () => {
  test.each([
    { name: 'an inserted line', rows: 'name\nAda\nNew\nBo\nEve\n', flags: [] },
    { name: 'another -i', rows: NAMES, flags: ['-i', 'name=Zoe'] },
  ])('are refused before anything is sent: $name', async ({ rows, flags }) => {
    const steps = [
      await buildCreationStep(1, 'Ada'),
      { row: 1, id: '1', state: 'succeeded', runId: 'x' },
      await buildCreationStep(2, 'Bo'),
      { row: 2, id: '2', state: 'succeeded', runId: 'y' },
    ];
    const { exitCode, stderr } = await resume(
      formatSucceededLine(1) + formatSucceededLine(2),
      flags,
      { rows, steps },
    );

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr).toMatch(
      /since (it was|they were) sent: (its|their) inputs, version or options differ/,
    );
    expect(stderr).toContain('--changed run');
    expect(await countCreatedRuns()).toBe(0);
  });

  test('are refused if another version is run', async () => {
    const steps = [await buildCreationStep(1, 'Ada', { promptVersionId: randomUUID() })];
    const { exitCode } = await resume('', [], { steps });
    expect(exitCode).toBe(EXIT.usage);
    expect(await countCreatedRuns()).toBe(0);
  });

  test('are refused if they come from standard input', async () => {
    const doneLine = formatSucceededLine(1);
    const { runId } = JSON.parse(doneLine) as { runId: string };
    const home = createDirectoryWith({ 'results.jsonl': doneLine });
    const ended = { row: 1, id: '1', state: 'succeeded', runId };
    writeJournal(home, await findVersion('hello'), [await buildCreationStep(1, 'Ada'), ended]);
    const args = ['hello', '--from', '-', '--format', 'csv', '--out', 'results.jsonl', '--resume'];
    const changed = await runBatch(args, { home, stdin: 'name\nZoe\nBo\n' });

    expect(changed.exitCode).toBe(EXIT.usage);
    expect(changed.stderr).toContain('(standard input line 2) has changed since it was sent');
    expect(await countCreatedRuns()).toBe(0);

    const same = await runBatch(args, { home, stdin: 'name\nAda\nBo\n' });
    expect(same.stderr).toContain('1 of 2 rows succeeded now, 1 before');
    expect(await countCreatedRuns()).toBe(1);
  });

  /** Resumes a batch of three rows, the second of which has another name than its result. */
  async function resumeWithChangedRow(runId: string, ...flags: readonly string[]) {
    const doneLine = formatSucceededLine(2).replace(/"runId":"[^"]+"/u, `"runId":"${runId}"`);
    const end = { row: 2, id: '2', state: 'succeeded', runId };
    return await resume(formatSucceededLine(1) + doneLine + formatSucceededLine(3), flags, {
      rows: 'name\nAda\nZoe\nEve\n',
      steps: [await buildCreationStep(2, 'Bo'), end],
    });
  }

  test('--changed run runs it again', async () => {
    const { exitCode, home } = await resumeWithChangedRow(randomUUID(), '--changed', 'run');
    expect(exitCode).toBe(0);
    expect(await countCreatedRuns()).toBe(1);
    expect(readResultLines(home)).toHaveLength(3);
    expect(readLastLines(home)[1]?.outputs?.[0]?.data).toContain('Zoe');
  });

  test('--changed skip leaves its result as it is', async () => {
    const runId = randomUUID();
    const { exitCode, home } = await resumeWithChangedRow(runId, '--changed', 'skip');
    expect(exitCode).toBe(0);
    expect(await countCreatedRuns()).toBe(0);
    expect(readResultLines(home)).toHaveLength(3);
    expect(readLastLines(home)[1]).toMatchObject({ runId });
  });
});

describe('without its journal', () => {
  test('rows without a result are refused unless --new-rows says that they are new', async () => {
    const refused = await resume(formatSucceededLine(1) + formatSucceededLine(2), [], {
      hasJournal: false,
    });
    expect(refused.exitCode).toBe(EXIT.usage);
    expect(refused.stderr).toContain('--new-rows');
    expect(await countCreatedRuns()).toBe(0);
    const { exitCode } = await resume(
      formatSucceededLine(1) + formatSucceededLine(2),
      ['--new-rows'],
      { hasJournal: false },
    );
    expect(exitCode).toBe(0);
    expect(await countCreatedRuns()).toBe(1);
  });

  test('a complete batch has nothing left to run', async () => {
    const { exitCode } = await resume(
      formatSucceededLine(1) + formatSucceededLine(2) + formatSucceededLine(3),
      [],
      { hasJournal: false },
    );
    expect(exitCode).toBe(0);
    expect(await countCreatedRuns()).toBe(0);
  });

  describe('rows that have changed since they were run here', () => {
    const args = ['hello', '--from', 'names.csv', '--out', 'results.jsonl'];
    const batch = (home: string, ...flags: string[]): Promise<BatchResult> =>
      runBatch([...args, ...flags], { home });

    test('are refused, or treated as --changed says', async () => {
      const home = createDirectoryWith({ 'names.csv': 'name\nAda\nBo\n' });
      expect((await batch(home)).exitCode).toBe(0);

      writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nZoe\n');
      const refused = await batch(home, '--resume');

      expect(refused.exitCode).toBe(EXIT.usage);
      expect(refused.stderr).toContain('row "2" (names.csv line 3) has changed since it was sent');
      expect((await batch(home, '--resume', '--changed', 'skip')).stderr).toContain(
        '0 of 2 rows succeeded now',
      );
      expect(await countCreatedRuns()).toBe(2);
      expect((await batch(home, '--resume', '--changed', 'run')).exitCode).toBe(0);
      expect(await countCreatedRuns()).toBe(3);
      expect(readLastLines(home)[1]?.outputs?.[0]?.data).toContain('Zoe');
      expect((await batch(home, '--resume')).exitCode).toBe(0);
      expect(await countCreatedRuns()).toBe(3);
    });

    test('are refused if another prompt is run', async () => {
      const home = createDirectoryWith({ 'notes.csv': 'note\na\n', 'names.csv': 'name\nAda\n' });
      expect((await batch(home)).exitCode).toBe(0);
      const other = ['sandbox', '--from', 'notes.csv', '--out', 'results.jsonl', '--resume'];
      const { exitCode, stderr } = await runBatch(other, { home });
      expect(stderr).toContain('row "1" (notes.csv line 2) has changed since it was sent');
      expect(exitCode).toBe(EXIT.usage);
      expect(await countCreatedRuns()).toBe(1);
    });
  });

  test('failed rows run again, and each row has one line', async () => {
    const results = formatSucceededLine(3) + formatFailedLine(2) + formatSucceededLine(1);
    const { exitCode, home } = await resume(results, ['--retry-failed'], { hasJournal: false });
    expect(exitCode).toBe(0);
    expect(readResultLines(home).map(({ row }) => row)).toEqual([3, 1, 2]);
  });
});

test('a result of a row that is missing in the input is refused', async () => {
  const { exitCode, stderr } = await resume(formatSucceededLine(1) + formatSucceededLine(4));
  expect(exitCode).toBe(EXIT.usage);
  expect(stderr).toContain('has a result of row "4", which is not in names.csv');
  expect(await countCreatedRuns()).toBe(0);
});

test('rows are recognised by their ids, in any order', async () => {
  const doneLine =
    '{"row":1,"id":"bo","runId":"x","runStatus":"succeeded","outputs":[],"tokens":1,"error":null}\n';
  const { exitCode } = await resume(doneLine, [], { rows: 'id,name\nada,Ada\nbo,Bo\n' });
  expect(exitCode).toBe(0);
  expect(await countCreatedRuns()).toBe(1);
});

test('a corrected row may have another id', async () => {
  const { exitCode } = await resume(formatFailedLine(1), ['--retry-failed'], {
    rows: 'id,name\nada,Ada\n',
  });
  expect(exitCode).toBe(0);
});

test.each([
  {
    rows: 'rows.csv',
    faulty: 'name,shout\nAda,true\nBo,maybe\n',
    corrected: 'name,shout\nAda,true\nBo,false\n',
    out: 'results.csv',
  },
  {
    rows: 'rows.csv',
    faulty: 'name,shout\nAda,true\nBo,maybe\n',
    corrected: 'name,shout\nAda,true\nBo,false\n',
    out: 'results.jsonl',
  },
  {
    rows: 'rows.jsonl',
    faulty: '{"id":"a","name":"Ada"}\n{"id":"b","name":"Bo"\n',
    corrected: '{"id":"a","name":"Ada"}\n{"id":"b","name":"Bo"}\n',
    out: 'results.jsonl',
  },
])(
  'the advice after faulty rows of $rows works for $out once they are corrected',
  async ({ rows, faulty, corrected, out }) => {
    const prompt =
      '---\nmodel: echo\ninput:\n  schema:\n    name: string\n    shout?: boolean\n---\nHi {{name}}\n';
    const home = createDirectoryWith({ 'hi.prompt': prompt, [rows]: faulty });
    const args = ['hi.prompt', '--from', rows, '--out', out];
    const first = await runBatchCommand(args, { home, env: {}, local: embedded });

    expect(first.exitCode).toBe(EXIT.runFailed);
    expect(first.stderr).toContain(
      'Correct the faulty rows. Run the failed ones again with: --resume --retry-failed --new-rows',
    );

    writeFileSync(path.join(home, rows), corrected);
    const again = await runBatchCommand([...args, '--resume', '--retry-failed', '--new-rows'], {
      home,
      env: {},
      local: embedded,
    });

    expect(again).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('1 of 2 rows succeeded now, 1 before'),
    });

    const results = readFileSync(path.join(home, out), 'utf8');
    expect(results.match(/succeeded/gu)).toHaveLength(2);
    expect(results).not.toContain('failed');
  },
);

test('a corrected row counts as new, because the journal that knew it is gone', async () => {
  const home = createDirectoryWith({
    'rows.csv': 'name\nAda\n',
    'results.csv': 'name,runId,runStatus,error,output1\nAd,,failed,x,\n',
  });
  const args = [
    'hello',
    '--from',
    'rows.csv',
    '--out',
    'results.csv',
    '--resume',
    '--retry-failed',
  ];
  const { exitCode, stderr } = await runBatchCommand(args, { home, env: {}, local: embedded });

  expect(exitCode).toBe(EXIT.usage);
  expect(stderr).toContain('If the rows without a result are new or corrected, add --new-rows.');
});
