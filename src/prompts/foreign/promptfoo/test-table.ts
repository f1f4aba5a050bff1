import { messageOf } from '../../../files/error-utils.ts';
import { faultAt } from '../../../files/file-fault.ts';
import { assertionInCell } from './assertions.ts';
import type { ConfiguredTest } from './configured-test.ts';
import type { Conversion, SourceText } from './conversion.ts';
import { asVariable, variableText } from './test-variables.ts';

/** A row of a table, with the line at which it ends. */
interface TableRow {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/**
 * Reads the rows of a table: columns are variables, or expectations if they begin with `__`. Quotes within a cell are
 * allowed only if the table can't be read otherwise, as in promptfoo.
 */
export async function readTestTable(
  { text, file }: SourceText,
  conversion: Conversion,
): Promise<ConfiguredTest[]> {
  const { parse } = await import('csv-parse/sync');
  const top = { file, line: 1, column: 1 };
  const parseRows = (relax_quotes: boolean): TableRow[] =>
    parse(text, { bom: true, columns: true, info: true, relax_column_count: true, relax_quotes }) as never;
  let rows: TableRow[];
  try {
    rows = parseRows(false);
  } catch {
    try {
      rows = parseRows(true);
    } catch (error) {
      throw faultAt(top, `the table can't be read: ${messageOf(error)}`);
    }
  }
  return rows.map(({ record, info }) => {
    const at = { file, line: info.lines, column: 1 };
    const cells = Object.entries(record);
    const expected = cells.filter(([key, cell]) => /^__expected\d*$/u.test(key) && cell.trim() !== '');
    for (const [key] of cells) {
      if (key.startsWith('__') && !/^__(?:expected\d*|description|metric|metadata:.*)$/u.test(key)) {
        conversion.note(top, `the column \`${key}\` has no equivalent`);
      }
    }
    const description = record['__description']?.trim() ?? '';
    return {
      name: description === '' ? undefined : description,
      at,
      vars: new Map(
        cells
          .filter(([key]) => !key.startsWith('__'))
          .map(([key, cell]) => [key, [asVariable(variableText(cell, at, conversion), at)]]),
      ),
      asserts: expected.map(([, cell]) => assertionInCell(cell, at)),
      options: {},
      metadata: {},
      isLeftOut: false,
    };
  });
}
