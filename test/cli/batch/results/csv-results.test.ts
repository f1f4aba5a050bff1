import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CsvResults } from '../../../../src/cli/batch/results/csv-results.ts';
import type { ResultsLine } from '../../../../src/cli/batch/results/results-line.ts';
import type { Context } from '../../../../src/cli/context.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';

/** Writes results to a table in this order. Returns the content of the table. */
async function writeTable(
  results: readonly ResultToWrite[],
  { sorted = false } = {},
): Promise<string> {
  const cwd = createTemporaryDirectory();
  const table = await CsvResults.open(
    { cwd } as Context,
    { out: 'results.csv', resume: false, excel: false },
    new Map(),
  );

  for (const { id, row, cells, outputs } of results) {
    await table.write(createResultsLine(id, row, outputs), {
      id,
      row,
      line: row + 1,
      cells,
      fault: 'unused',
    });
  }

  await table.finish(sorted);
  await table.close();
  return readFileSync(path.join(cwd, 'results.csv'), 'utf8');
}

interface ResultToWrite {
  readonly id: string;
  readonly row: number;
  readonly cells: Readonly<Record<string, string>>;
  readonly outputs: readonly string[];
}

function createResultsLine(id: string, row: number, outputs: readonly string[]): ResultsLine {
  const items = outputs.map(data => ({ type: 'text', data }) as const);
  return {
    row,
    id,
    runId: `r${row}`,
    runStatus: 'ok',
    outputs: items,
    credits: null,
    cost: null,
    tokens: 1,
    seconds: 1,
    error: null,
  };
}

describe('a table of results', () => {
  test('recognises rows whatever line ends git or Windows gave their cells', async () => {
    const cwd = createTemporaryDirectory();
    const written = 'note,runId,runStatus,error,output1\r\n"one\r\ntwo",r1,succeeded,,"a\r\nb"\r\n';
    writeFileSync(path.join(cwd, 'results.csv'), written);
    const options = { out: 'results.csv', resume: true, excel: false };
    const table = await CsvResults.open({ cwd } as Context, options, new Map());
    table.matchRow({
      id: '1',
      row: 1,
      line: 2,
      cells: { note: 'one\ntwo' },
      fault: 'unused',
    });

    expect(table.states.get('1')).toMatchObject({ runStatus: 'succeeded', runId: 'r1' });

    await table.close();
  });

  test('has as many cells in each line as in its header, whatever later results need', async () => {
    const table = await writeTable([
      { id: 'a', row: 1, cells: { name: 'Zoë, "Z"' }, outputs: ['one\nline'] },
      { id: 'b', row: 2, cells: { name: 'Bo', city: 'Oslo' }, outputs: ['1', '2', '3'] },
      { id: 'c', row: 3, cells: { city: 'Rio' }, outputs: [] },
      { id: 'd', row: 4, cells: { name: 'Di' }, outputs: ['1', '2'] },
    ]);
    expect(table).toBe(
      [
        'name,city,runId,runStatus,error,output1,output2,output3',
        '"Zoë, ""Z""",,r1,ok,,"one\nline",,',
        'Bo,Oslo,r2,ok,,1,2,3',
        ',Rio,r3,ok,,,,',
        'Di,,r4,ok,,1,2,',
        '',
      ].join('\n'),
    );
  });

  test('keeps the last result of a row, in the order of the rows on request', async () => {
    const cells = { name: 'x' };
    const results = [
      { id: 'c', row: 3, cells, outputs: ['third'] },
      { id: 'b', row: 2, cells, outputs: ['old'] },
      { id: 'a', row: 1, cells, outputs: ['first'] },
      { id: 'b', row: 2, cells, outputs: ['new'] },
    ];

    const header = 'name,runId,runStatus,error,output1\n';
    const [first, second, third] = ['x,r1,ok,,first\n', 'x,r2,ok,,new\n', 'x,r3,ok,,third\n'];

    expect(await writeTable(results)).toBe([header, third, first, second].join(''));
    expect(await writeTable(results, { sorted: true })).toBe(
      [header, first, second, third].join(''),
    );
  });

  test('keeps the column of earlier runs if the only row with some is gone', async () => {
    const cwd = createTemporaryDirectory();
    const header = 'name,runId,runStatus,error,output1,earlierRunIds\n';
    writeFileSync(path.join(cwd, 'results.csv'), `${header}Ad,,failed,refused,,r0\n`);
    const options = { out: 'results.csv', resume: true, excel: false };
    const table = await CsvResults.open({ cwd } as Context, options, new Map());

    const row = { id: '1', row: 1, line: 2, cells: { name: 'Ada' }, fault: 'unused' };
    await table.write(createResultsLine('1', 1, ['Hi']), row);
    await table.finish(false);
    await table.close();

    expect(readFileSync(path.join(cwd, 'results.csv'), 'utf8')).toBe(`${header}Ada,r1,ok,,Hi,\n`);
  });

  test('has no own columns until a row has some', async () => {
    const table = await writeTable([
      { id: '1', row: 1, cells: {}, outputs: ['é'] },
      { id: '2', row: 2, cells: { name: 'Bo' }, outputs: ['1', '2'] },
    ]);
    expect(table).toBe('name,runId,runStatus,error,output1,output2\n,r1,ok,,é,\nBo,r2,ok,,1,2\n');
  });
});
