import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/cli/core/exit-codes.ts';
import { createDirectoryWith } from '../../support/context.ts';
import { setUpBatchesToResume } from './batches-to-resume.ts';

const { runBatch, countCreatedRuns, writeJournal, findVersion, buildCreationStep } =
  setUpBatchesToResume();

describe('a table of results', () => {
  const readTable = (home: string): string[][] =>
    readFileSync(path.join(home, 'results.csv'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => line.split(','));

  const args = ['hello', '--from', 'names.csv', '--out', 'results.csv', '--concurrency', '1'];

  test("has the rows' own columns, then the columns of their results", async () => {
    const home = createDirectoryWith({ 'names.csv': 'id,name\na,Ada\nb,\nc,Eve\n' });
    const { exitCode } = await runBatch(args, { home });

    expect(exitCode).toBe(EXIT.runFailed);

    const [header, ada, bo, eve] = readTable(home);
    expect(header).toEqual(['id', 'name', 'runId', 'runStatus', 'error', 'output1']);
    expect(ada?.slice(0, 2)).toEqual(['a', 'Ada']);
    expect(bo?.slice(0, 4)).toEqual(['b', '', '', 'failed']);
    expect(bo).toHaveLength(6);
    expect(eve?.[3]).toBe('succeeded');
    expect(existsSync(path.join(home, 'results.csv.journal'))).toBe(false);
  });

  test('can be resumed: its rows are recognised by their columns, each in one line', async () => {
    const home = createDirectoryWith({ 'names.csv': 'name\nAda\n\n' });
    await runBatch(args, { home });
    const before = readTable(home);
    writeFileSync(path.join(home, 'names.csv'), 'name\nBo\nAda\n');
    const flags = ['--resume', '--new-rows', '--sorted'];

    expect((await runBatch([...args, ...flags], { home })).exitCode).toBe(0);
    expect(await countCreatedRuns()).toBe(2);
    expect(readTable(home)[2]).toEqual(before[1]);
    expect(readTable(home)[1]?.[0]).toBe('Bo');
  });

  test.each(['before its first row', 'at its first row'])(
    'keeps its results if a batch of more rows dies %s',
    async when => {
      const home = createDirectoryWith({ 'names.csv': 'name\nAda\nBo\n' });
      await runBatch(args, { home });
      const [, ada, bo] = readTable(home);
      writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nBo\nCy\n');
      const steps = when.startsWith('at')
        ? [await buildCreationStep(3, 'Cy'), { row: 3, id: '3', state: 'waiting' }]
        : [];
      writeJournal(home, await findVersion('hello'), steps, 'results.csv');
      if (when.startsWith('at')) appendFileSync(path.join(home, 'results.csv'), 'Cy,5e0f');
      const { exitCode, stderr } = await runBatch([...args, '--resume'], { home });

      expect(exitCode).toBe(0);
      expect(stderr).toContain('note: 1 of 3 rows succeeded now, 2 before');
      expect(await countCreatedRuns()).toBe(3);
      expect(readTable(home).slice(1, 3)).toEqual([ada, bo]);
      expect(readTable(home)[3]?.[0]).toBe('Cy');
    },
  );

  test.each(['na', '\0'.repeat(64), ''])(
    'is rebuilt from the journal if a crash left only %j of it',
    async torn => {
      const home = createDirectoryWith({ 'names.csv': 'name\nCy\n', 'results.csv': torn });
      const runId = randomUUID();
      const result = { row: 1, cells: { name: 'Cy' }, values: [runId, 'succeeded', '', 'Hello'] };
      const end = { row: 1, id: '1', state: 'succeeded', runId, error: null, result };
      writeJournal(
        home,
        await findVersion('hello'),
        [await buildCreationStep(1, 'Cy'), end],
        'results.csv',
      );

      expect((await runBatch([...args, '--resume'], { home })).exitCode).toBe(0);
      expect(readTable(home)[1]).toEqual(['Cy', runId, 'succeeded', '', 'Hello']);
      expect(await countCreatedRuns()).toBe(0);
    },
  );

  test('puts its results before those of a batch of more rows that died', async () => {
    const home = createDirectoryWith({ 'names.csv': 'name\nAda\n' });
    await runBatch(args, { home });
    const [, ada] = readTable(home);
    writeFileSync(path.join(home, 'names.csv'), 'name\nAda\nCy\n');
    const runId = randomUUID();
    const result = { row: 2, cells: { name: 'Cy' }, values: [runId, 'succeeded', '', 'Hello'] };
    const end = { row: 2, id: '2', state: 'succeeded', runId, error: null, result };
    writeJournal(
      home,
      await findVersion('hello'),
      [await buildCreationStep(2, 'Cy'), end],
      'results.csv',
    );

    const { stderr } = await runBatch([...args, '--resume'], { home });
    expect(stderr).toContain('note: 0 of 2 rows succeeded now, 2 before');
    expect(readTable(home).slice(1)).toEqual([ada, ['Cy', runId, 'succeeded', '', 'Hello']]);
    expect(await countCreatedRuns()).toBe(1);
  });

  test.each([';', '\t'])(
    'can be resumed after a spreadsheet has saved it with %j between its cells',
    async separator => {
      const home = createDirectoryWith({ 'names.csv': 'name\nAda\n' });
      await runBatch(args, { home });
      const file = path.join(home, 'results.csv');
      const before = readFileSync(file, 'utf8');

      // The greeting has a comma too, in quotes and before a space.
      const saved = before.replaceAll(/,(?! )/gu, separator).replaceAll('\n', '\r\n');
      writeFileSync(file, `\uFEFF${saved}`);

      expect((await runBatch([...args, '--resume'], { home })).exitCode).toBe(0);
      expect(await countCreatedRuns()).toBe(1);
      expect(readFileSync(file, 'utf8')).toBe(before);
    },
  );
});
