import { decodeUtf8Stream } from './decode-utf8.ts';
import { readJsonl } from './read-jsonl.ts';
import { isFaulty, type ReadableRow, type SourceRow } from './row.ts';
import { RowIds } from './row-ids.ts';
import type { RowSource } from './source.ts';

/**
 * The rows of a source, one at a time. What is wrong with one row is a fault of that row.
 *
 * @throws {CliError} for what is wrong with all of them: an encoding, a header
 */
export async function* readRows(source: RowSource, signal: AbortSignal): AsyncGenerator<SourceRow> {
  const text = decodeUtf8Stream(source.open(signal), source.name);
  const ids = new RowIds();
  for await (const row of source.format === 'csv' ? await csvRows(text) : readJsonl(text)) {
    yield isFaulty(row) ? row : (imageFault(row) ?? twinFault(row, ids) ?? row);
  }
}

async function csvRows(text: AsyncIterable<string>): Promise<AsyncIterable<SourceRow>> {
  const { readCsv } = await import('./read-csv.ts');
  return readCsv(text);
}

function imageFault(row: ReadableRow): SourceRow | undefined {
  return row.inputs.images.includes('-')
    ? faulty(row, row.id, 'an image of a row can’t come from standard input')
    : undefined;
}

/** The second of two rows with one id goes by another, or its result would be taken for the first one's. */
function twinFault(row: ReadableRow, ids: RowIds): SourceRow | undefined {
  const holder = ids.take(row);
  return holder === undefined
    ? undefined
    : faulty(row, `${row.id} (row ${row.row})`, `its id ${JSON.stringify(row.id)} is that of row ${holder}`);
}

function faulty({ row, line }: ReadableRow, id: string, fault: string): SourceRow {
  return { row, line, id, fault };
}
