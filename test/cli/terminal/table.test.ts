import * as fc from 'fast-check';
import stringWidth from 'fast-string-width';
import { describe, expect, it } from 'vitest';
import {
  type Cell,
  formatPlainRows,
  renderTerminalTable,
  type TableColumn,
} from '../../../src/cli/terminal/table.ts';
import { testContext } from '../../support/context.ts';

const COLUMNS: readonly TableColumn[] = [
  { title: 'ID' },
  { title: 'NAME', minWidth: 6, dropOrder: 2 },
  { title: 'N', align: 'right', dropOrder: 1 },
];

async function renderTable(
  columns: number,
  rows: readonly (readonly Cell[])[],
  shape = COLUMNS,
): Promise<string> {
  const { ctx } = await testContext({
    terminal: { stdout: true },
    columns,
    env: { NO_COLOR: '1' },
  });
  return renderTerminalTable(ctx.io, shape, rows);
}

describe('renderTerminalTable', () => {
  const rows = [
    ['0123456789', 'a long name of it', '7'],
    ['9876543210', 'short', '1234'],
  ];

  it('has a header, and columns as wide as their content', async () => {
    expect(await renderTable(80, rows)).toBe(
      [
        'ID          NAME                  N',
        '0123456789  a long name of it     7',
        '9876543210  short              1234',
        '',
      ].join('\n'),
    );
  });

  it('cuts cells to their minimum widths, then leaves columns out', async () => {
    expect(await renderTable(26, rows)).toContain('0123456789  a long …     7\n');
    expect(await renderTable(22, rows)).toContain('0123456789  a long na…\n');
    expect(await renderTable(12, rows)).toContain('\n0123456789\n');
    expect(await renderTable(6, rows)).toContain('\n01234…\n');
  });

  it('cuts words rather than numbers, as far as no column may be left out', async () => {
    const shape: readonly TableColumn[] = [
      { title: 'Name' },
      { title: 'N' },
      { title: 'Cost', align: 'right' },
    ];
    const text = await renderTable(24, [['a long name of it', '1', '~$0.0517']], shape);
    expect(text).toContain('a long nam…  1  ~$0.0517\n');
  });

  it('measures the width on the terminal, not the number of characters', async () => {
    const wide = await renderTable(22, [['1', '東京タワーと富士山の写真', '1']]);
    expect(wide).toContain('1   東京タワーと富…  1');
    for (const line of wide.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(22);
  });

  it('aligns text with accents and in any script', async () => {
    const names = ['日本語', 'שלום', 'Zu\u0308rich'];
    const text = await renderTable(
      80,
      names.map(name => [name, 'x']),
    );
    const widths = text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map(line => stringWidth(line));
    expect(new Set(widths).size).toBe(1);
  });

  it('never cuts a character in two', async () => {
    expect(await renderTable(10, [['1', '👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', '']])).toContain(
      '1   👩‍👩‍👧👩‍👩‍👧…',
    );
  });

  it('leaves out an empty column', async () => {
    expect(await renderTable(80, [['1', '', '2']])).toBe('ID  N\n1   2\n');
  });

  it('shows control characters and line breaks of cells on one line', async () => {
    expect(await renderTable(80, [['\u001b[2J', 'a\nb\tc', '\r']])).toBe(
      'ID     NAME   N\n^[[2J  a b c\n',
    );
  });

  it('fits any rows into any terminal', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'Z', 'é', '晴', 'ש', '👩', '🎉', '-', ' '),
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 20, max: 200 }),
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 4 }),
        async (columns, cells) => {
          for (const line of (await renderTable(columns, cells)).split('\n')) {
            expect(stringWidth(line)).toBeLessThanOrEqual(columns);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('shortens identifiers and cuts paths in their middle before it cuts words', async () => {
    const columns = [
      { title: 'ID', hasIds: true },
      { title: 'TITLE', minWidth: 6 },
      { title: 'FILE', hasPaths: true, minWidth: 10 },
    ] as const;
    const row = [
      '7d1f3a52-9f0c-4d0e-8a68-0c1f4f1e2b3a',
      'A title of many words',
      '/home/ada/prompts/hello.prompt',
    ];
    expect(await renderTable(50, [row], columns)).toContain(
      '7d1f3a52  A title of many words  /home/ad…o.prompt\n',
    );
  });

  it('colours a cell after cutting it', async () => {
    const paint = (text: string): string => `<${text}>`;
    expect(
      await renderTable(8, [[{ text: '0123456789', paint }]], [{ title: 'ID', minWidth: 3 }]),
    ).toContain('<0123456…>');
  });
});

describe('formatPlainRows', () => {
  it('separates cells by tabs, which no cell contains', () => {
    expect(formatPlainRows([['a\tb', 'c\r\nd', '']])).toBe('a b\tc d\t\n');
  });
});
