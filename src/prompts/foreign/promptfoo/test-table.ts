import { messageOf } from '../../../files/error-utils.ts';
import { faultAt } from '../../../files/file-fault.ts';
import { assertionInCell } from './assertions.ts';
import type { ConfiguredTest } from './configured-test.ts';
import type { Conversion, SourceText } from './conversion.ts';
import { asVariable, variableText } from './test-variables.ts';

/** Reads the rows of a table: columns are variables, or expectations if they begin with `__`. */
export async function readTestTable(
  { text, file }: SourceText,
  conversion: Conversion,
): Promise<ConfiguredTest[]> {
  const { parse } = await import('csv-parse/sync');
  const top = { file, line: 1, column: 1 };
  let rows: { record: Readonly<Record<string, string>>; info: { lines: number } }[];
  try {
    rows = parse(text, { bom: true, columns: true, info: true, relax_column_count: true }) as never;
  } catch (error) {
    throw faultAt(top, `the table can't be read: ${messageOf(error)}`);
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
