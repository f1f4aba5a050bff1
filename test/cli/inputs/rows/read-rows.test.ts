import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceRow } from '../../../../src/cli/inputs/rows/row.ts';
import { type RowFormat, readRows } from '../../../../src/cli/inputs/rows/row-source.ts';

const signal = new AbortController().signal;
const containing = (text: string): unknown => expect.stringContaining(text);

/** Reads the rows of a text that arrives in chunks of `chunkSize` bytes. */
async function readAllRows(
  format: RowFormat,
  text: string | Uint8Array,
  chunkSize = 7,
): Promise<SourceRow[]> {
  const bytes = Buffer.from(text as string);
  const open = async function* (): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += chunkSize) {
      yield bytes.subarray(start, start + chunkSize);
    }
  };

  const rows: SourceRow[] = [];
  for await (const row of readRows(
    { name: 'the rows', format, delimiter: undefined, isRepeatable: false, open },
    signal,
  )) {
    rows.push(row);
  }

  return rows;
}

/** Returns the inputs of a row, or a faulty row unchanged. */
const toInputs = (row: SourceRow | undefined): unknown =>
  row && 'inputs' in row
    ? { ...Object.fromEntries(row.inputs.text), images: row.inputs.images }
    : row;

describe('CSV', () => {
  test('the header names the inputs, and rows have their number from 1 and their line', async () => {
    const rows = await readAllRows('csv', 'name,mood\nAda,sunny\n\nBo,rainy\n');
    expect(rows.map(({ row, line, id }) => ({ row, line, id }))).toEqual([
      { row: 1, line: 2, id: '1' },
      { row: 2, line: 4, id: '2' },
    ]);
    expect(toInputs(rows[1])).toEqual({ name: 'Bo', mood: 'rainy', images: [] });
  });

  test.each([';', '\t', ','])(
    'is read with the separator that its header has: %j',
    async delimiter => {
      const lines = [
        ['name', '"a, b; c"', 'x'],
        ['Ada', '"1,2;3"', ''],
      ].map(cells => cells.join(delimiter));
      const rows = await readAllRows('csv', `\ufeff\n${lines.join('\n')}\n`);
      expect(rows.map(toInputs)).toEqual([{ name: 'Ada', 'a, b; c': '1,2;3', images: [] }]);
    },
  );

  test.each(['\ufeffsep=|\r\n', 'SEP=|\n', '\n sep=|\n\n'])(
    'is read with the separator of its line for Excel: %j',
    async line => {
      const [row] = await readAllRows('csv', `${line}name|a,b;c\nAda|x\n`);
      expect([toInputs(row), row?.row, row?.line]).toEqual([
        { name: 'Ada', 'a,b;c': 'x', images: [] },
        1,
        line.split('\n').length + 1,
      ]);
    },
  );

  test('a byte order mark is dropped, and CRLF is LF, within a cell too', async () => {
    const rows = await readAllRows(
      'csv',
      '\ufeffname,place\r\n"Ada\r\nLovelace",here\r\n"two\nlines","a ""b"""\r\nx,y',
    );
    expect(rows.map(toInputs)).toEqual([
      { name: 'Ada\nLovelace', place: 'here', images: [] },
      { name: 'two\nlines', place: 'a "b"', images: [] },
      { name: 'x', place: 'y', images: [] },
    ]);
    expect(rows.map(({ line }) => line)).toEqual([2, 4, 6]);
  });

  test('image columns contain images in order, the id column names the row', async () => {
    const [row] = await readAllRows(
      'csv',
      'image10,id,image,caption,image2\nten.png,first,zero.png,Hi,two.png\n',
    );
    expect(row).toMatchObject({ id: 'first', hasOwnId: true });
    expect(toInputs(row)).toEqual({ caption: 'Hi', images: ['zero.png', 'two.png', 'ten.png'] });
  });

  test('an empty cell leaves out the input, image or id', async () => {
    const [row] = await readAllRows('csv', 'id,name,mood,image\n,Ada,,\n');
    expect(row).toMatchObject({ id: '1' });
    expect(toInputs(row)).toEqual({ name: 'Ada', images: [] });
  });

  test('too many or too few columns are a fault of their row alone', async () => {
    const rows = await readAllRows('csv', 'a,b\n1,2,3\n"x\ny"\n4,5\n');
    expect(rows).toMatchObject([
      { row: 1, line: 2, fault: '3 columns, but the header has 2' },
      { row: 2, line: 3, fault: '1 column, but the header has 2' },
      { row: 3, line: 5, id: '3' },
    ]);
  });

  test('quotes that enclose only part of a value are a fault of their row alone', async () => {
    const rows = await readAllRows('csv', 'a,b\n1,"x" y\n2,3\n5 "feet",6\n');
    expect(rows).toMatchObject([
      { line: 2, fault: containing('column 2') },
      { line: 3 },
      { line: 4 },
    ]);
    expect(toInputs(rows[2])).toMatchObject({ a: '5 "feet"' });
  });

  test('quotes that are never closed are reported with the line on which they open', async () => {
    const rows = await readAllRows('csv', 'a,b\n1,2\n\n3,"4\n5,6\n7,8\n');
    expect(rows).toMatchObject([
      { row: 1, line: 2 },
      { row: 2, line: 4, fault: containing('never closed') },
    ]);
  });

  test('a column without a name must stay empty', async () => {
    const rows = await readAllRows('csv', 'a,\n1,\n2,x\n');
    expect(rows).toMatchObject([
      { line: 2, hasOwnId: false },
      { line: 3, fault: containing('no name') },
    ]);
  });

  test('two columns of one name are refused', async () => {
    await expect(readAllRows('csv', 'a,b,a\n1,2,3\n')).rejects.toThrow(
      'names the column "a" twice',
    );
  });

  test('a file without rows has none', async () => {
    expect(await readAllRows('csv', '')).toEqual([]);
    expect(await readAllRows('csv', 'name,id\n')).toEqual([]);
  });

  test('names such as __proto__ are names like any other', async () => {
    const [row] = await readAllRows('csv', '__proto__,constructor\nx,y\n');
    expect(row && 'inputs' in row && [...row.inputs.text]).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  test('any written rows are read again, with the line on which each starts', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'é', '😀'),
      maxLength: 6,
    });
    const records = fc.array(fc.tuple(cell, cell), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 9 }),
        async (writtenRows, lineEnd, chunkSize) => {
          const toLf = (value: string): string => value.replaceAll('\r\n', '\n');
          const quote = (value: string): string => `"${value.replaceAll('"', '""')}"`;
          const lines = writtenRows.map(row => row.map(quote).join(','));
          const rows = await readAllRows('csv', ['a,b', ...lines].join(lineEnd), chunkSize);

          expect(rows.map(row => [toInputs(row), row.line])).toEqual(
            writtenRows.map(([a, b], index) => [
              { ...(a && { a: toLf(a) }), ...(b && { b: toLf(b) }), images: [] },
              2 + lines.slice(0, index).reduce((sum, line) => sum + line.split('\n').length, 0),
            ]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('JSONL', () => {
  test('a flat map becomes texts; numbers and booleans stay as written', async () => {
    const rows = await readAllRows(
      'jsonl',
      '{"name":"Ada","age":1.50,"ok":true}\n\n{"name":"Bo"}\r\n',
    );
    expect(toInputs(rows[0])).toEqual({ name: 'Ada', age: '1.50', ok: 'true', images: [] });
    expect(rows[1]).toMatchObject({ row: 2, line: 3, id: '2' });
  });

  test('the form of the interface becomes texts and images', async () => {
    const line = {
      id: 7,
      textInputs: { a: 'b' },
      imageInputs: [{ type: 'url', url: 'https://x.test/a.png' }],
    };
    const [row] = await readAllRows('jsonl', JSON.stringify(line));
    expect(row).toMatchObject({ id: '7', hasOwnId: true });
    expect(toInputs(row)).toEqual({ a: 'b', images: ['https://x.test/a.png'] });
  });

  test('image fields of a flat map are images, as in a CSV file', async () => {
    const [row] = await readAllRows('jsonl', '{"image2":"b.png","image1":"a.png","x":"y"}');
    expect(toInputs(row)).toEqual({ x: 'y', images: ['a.png', 'b.png'] });
  });

  test('a JSON list over several lines is reported on the line on which it begins', async () => {
    const rows = await readAllRows('jsonl', '[{"a":"b"},\n{"a":"c"}]');
    expect(rows.map(row => ('fault' in row ? row.fault : toInputs(row)))).toEqual([
      'it is a JSON list; write each object on its own line, without the list',
      'it is not valid JSON',
    ]);
  });

  test('a line that is not a row is a fault of that line alone', async () => {
    const rows = await readAllRows(
      'jsonl',
      '{"a":\n[1]\n{"a":null}\n{"a":{"b":1}}\n{"id":null}\n{"textInputs":{},"x":"y"}\n' +
        `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}\n{"a":"b"}`,
    );
    expect(rows.map(row => ('fault' in row ? row.fault : toInputs(row)))).toEqual([
      'it is not valid JSON',
      'it is a JSON list; write each object on its own line, without the list',
      'the value of "a" is null',
      { a: '{"b":1}', images: [] },
      'its id is neither text nor a number',
      '"x" is not allowed next to textInputs and imageInputs',
      'it has more than 500 levels',
      { a: 'b', images: [] },
    ]);
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('any written maps are read again, however the text is cut into chunks', async () => {
    const anyMap = fc.dictionary(
      fc.string().filter(key => key !== 'id' && !key.startsWith('image')),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMap, { maxLength: 5 }),
        fc.integer({ min: 1, max: 20 }),
        async (maps, chunkSize) => {
          const rows = await readAllRows(
            'jsonl',
            maps.map(map => `${JSON.stringify(map)}\n`).join(''),
            chunkSize,
          );
          expect(rows.map(row => 'inputs' in row && [...row.inputs.text])).toEqual(
            maps.map(map => Object.entries(map)),
          );
        },
      ),
    );
  });
});

describe('the id of a row', () => {
  test('that an earlier row has is a fault of the second row, which gets another one', async () => {
    const rows = await readAllRows('csv', 'id,a\nx,1\ny,2\nx,3\n');
    expect(rows).toMatchObject([
      { id: 'x' },
      { id: 'y' },
      { id: 'x (row 3)', line: 4, fault: 'its id "x" is already the id of row 1' },
    ]);
  });

  test('may not equal the number of a row without an id, whichever comes first', async () => {
    expect(await readAllRows('csv', 'id,a\n,1\n1,2\n')).toMatchObject([
      { id: '1' },
      { fault: containing('row 1') },
    ]);
    expect(await readAllRows('csv', 'id,a\n2,1\n,2\n')).toMatchObject([
      { id: '2' },
      { fault: containing('row 1') },
    ]);
  });
});

test('an image from standard input is refused in a row', async () => {
  expect(await readAllRows('csv', 'image,a\n-,x\n')).toMatchObject([
    { fault: containing('standard input') },
  ]);
});

test('text that is not UTF-8 is refused', async () => {
  await expect(readAllRows('csv', Buffer.from('name\nJos\xe9\n', 'latin1'))).rejects.toThrow(
    'the rows is not valid UTF-8',
  );
  await expect(readAllRows('csv', Buffer.from('\uFEFFname\nJosé\n', 'utf16le'))).rejects.toThrow(
    'the rows is UTF-16 text',
  );
});

test('a long file is read only as far as its rows are requested', async () => {
  let yieldedCount = 0;
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a\n');
    for (;;) {
      yieldedCount += 1;
      yield Buffer.from(`${'x'.repeat(1000)}\n`);
    }
  };

  const rows = readRows(
    { name: 'endless', format: 'csv', delimiter: undefined, isRepeatable: false, open },
    signal,
  );
  expect((await rows.next()).value).toMatchObject({ row: 1 });

  await rows.return(undefined);
  expect(yieldedCount).toBeLessThan(1000);
});
