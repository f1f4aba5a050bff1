import { errorMessage } from '../../../../files/error-utils.ts';
import { type FilePosition, faultAt } from '../../../../files/file-fault.ts';
import { assertionInCell } from '../assertions/assertions.ts';
import type { Conversion, SourceText } from '../conversion.ts';
import type { ConfiguredTest } from './configured-test.ts';
import { asVariable, variableText } from './test-variables.ts';

/** A row of a table, with the line at which it ends. */
interface TestTableRow {
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
  const top = { file, line: 1, column: 1 };
  const rows = await parseTable(text).catch((error: unknown) => {
    throw faultAt(top, `the table can't be read: ${errorMessage(error)}`);
  });
  return rows.map(({ record, info }) => {
    for (const key of Object.keys(record)) {
      if (key.startsWith('__') && !/^__(?:expected\d*|description|metric|metadata:.*)$/u.test(key)) {
        conversion.note(top, `the column \`${key}\` has no equivalent`);
      }
    }
    return rowTest(record, { file, line: info.lines, column: 1 }, conversion);
  });
}

async function parseTable(text: string): Promise<TestTableRow[]> {
  const { parse } = await import('csv-parse/sync');
  const options = { bom: true, columns: true, info: true, relax_column_count: true } as const;
  try {
    return parse(text, options) as never;
  } catch {
    return parse(text, { ...options, relax_quotes: true }) as never;
  }
}

/** Returns the test in a row of a table. */
function rowTest(record: TestTableRow['record'], at: FilePosition, conversion: Conversion): ConfiguredTest {
  const cells = Object.entries(record);
  const variables = cells.filter(([key]) => !key.startsWith('__'));
  const expected = cells.filter(([key, cell]) => /^__expected\d*$/u.test(key) && cell.trim() !== '');
  const description = record['__description']?.trim() ?? '';
  return {
    name: description === '' ? undefined : description,
    at,
    vars: new Map(
      variables.map(([key, cell]) => [key, [asVariable(variableText(cell, at, conversion), at)]]),
    ),
    asserts: expected.map(([, cell]) => assertionInCell(cell, at)),
    options: {},
    metadata: {},
    isLeftOut: false,
  };
}
