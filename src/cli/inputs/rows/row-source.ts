import { stat } from 'node:fs/promises';
import path from 'node:path';
import { openReadable } from '../../../files/open-readable.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import type { InputFields } from '../input-fields.ts';
import type { NamingFolder } from '../named-file.ts';
import { toFileFault } from '../read-text.ts';
import { decodeUtf8Stream } from './decode-utf8.ts';
import { readJsonl } from './jsonl.ts';
import { isFaulty, type ReadableRow, type SourceRow, toFaultyRow } from './row.ts';
import { RowIds } from './row-ids.ts';

const ROW_FORMATS = ['csv', 'jsonl'] as const;
export type RowFormat = (typeof ROW_FORMATS)[number];

export interface RowSource {
  /** The name for messages: the file as given, or standard input. */
  readonly name: string;
  readonly format: RowFormat;
  /** The separator of CSV cells; undefined to detect it in the header. */
  readonly delimiter: string | undefined;
  /** True if it can be read from its start more than once. */
  readonly isRepeatable: boolean;
  /** Yields the bytes from the start, until `signal` is aborted. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array | string>;
}

/** The flags that name the source of rows. */
export interface SourceFlags {
  readonly from: string;
  readonly format: RowFormat | undefined;
  readonly delimiter: string | undefined;
}

/**
 * Opens the source of rows.
 *
 * @param origin the flag or argument that names it, for messages
 * @throws {CliError} if the file can't be read, or its format is unknown
 */
export async function openRowSource(
  ctx: Context,
  flags: SourceFlags,
  origin = '--from',
): Promise<RowSource> {
  const { from, format } = flags;
  const delimiter = flags.delimiter === undefined ? undefined : parseDelimiter(flags.delimiter);
  if (from === '-') {
    if (format === undefined) throw usageError(`${origin} - needs --format csv or --format jsonl`);
    const open = (signal: AbortSignal): ReturnType<RowSource['open']> =>
      streamStandardInput(ctx, signal);
    return { name: 'standard input', format, delimiter, isRepeatable: false, open };
  }

  const file = path.resolve(ctx.cwd, from);
  const { isFile } = await statFile(file, from, origin);

  return {
    name: from,
    format: format ?? guessFormat(from, origin),
    delimiter,
    isRepeatable: isFile,
    open: signal => openReadable(file, signal),
  };
}

/** Returns the folder for files named in rows: that of the rows file, or the working directory. */
export function getRowsFolder(
  { cwd }: Context,
  { from, allowOutside }: { readonly from: string; readonly allowOutside: boolean },
): NamingFolder {
  return { cwd: from === '-' ? cwd : path.dirname(path.resolve(cwd, from)), allowOutside };
}

function parseDelimiter(text: string): string {
  const delimiter = /^(?:\\t|tab)$/iu.test(text) ? '\t' : text;
  if (/^[^"\r\n]$/u.test(delimiter)) return delimiter;
  throw usageError(
    `--delimiter needs one character, not ${JSON.stringify(text)}`,
    "For example: --delimiter ';' or --delimiter tab",
  );
}

async function statFile(file: string, name: string, origin: string): Promise<{ isFile: boolean }> {
  const stats = await stat(file).catch((error: unknown) => {
    throw toFileFault(error, name, origin);
  });
  if (stats.isDirectory()) throw usageError(`${origin}: ${name} is a directory`);
  return { isFile: stats.isFile() };
}

function guessFormat(file: string, origin: string): RowFormat {
  switch (path.extname(file).toLowerCase()) {
    case '.csv':
    case '.tsv':
      return 'csv';
    case '.jsonl':
    case '.ndjson':
      return 'jsonl';
    case '.xlsx':
    case '.xls':
    case '.ods':
    case '.numbers':
      throw usageError(
        `${origin}: ${file} is a spreadsheet, not CSV or JSONL`,
        'Save it as CSV in UTF-8, and give that file.',
      );
    case '.json':
      throw usageError(
        `${origin}: the name of ${file} does not show its format`,
        'If each line is a JSON object, add --format jsonl. A JSON list has to be written so first.',
      );
    default:
      throw usageError(
        `${origin}: the name of ${file} does not show its format`,
        'Add --format csv or --format jsonl.',
      );
  }
}

/** Yields standard input, and ends immediately if aborted, even if no more input ever comes. */
function streamStandardInput(
  ctx: Context,
  signal: AbortSignal,
): AsyncIterable<Uint8Array | string> {
  const { stream } = ctx.io.stdin;
  const destroyStream = (): unknown => stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', destroyStream, { once: true });
  if (signal.aborted) destroyStream();
  return stream as AsyncIterable<Uint8Array | string>;
}

/**
 * Returns a source that can be read more than once. Reads any other source into memory, so that
 * nothing of it stays on disk.
 */
export async function toRepeatableSource(
  source: RowSource,
  signal: AbortSignal,
): Promise<RowSource> {
  if (source.isRepeatable) return source;

  const pieces: (Uint8Array | string)[] = [];
  for await (const piece of source.open(signal)) pieces.push(piece);

  return {
    ...source,
    isRepeatable: true,
    async *open() {
      yield* pieces;
    },
  };
}

/**
 * Yields the rows of a source. A fault in one row is a fault of that row alone.
 *
 * @param fields the inputs of the prompt: unless it takes an `item`, rows of OpenAI's Evals are
 * unwrapped; default none
 * @throws {CliError} for a fault of the whole source, such as its encoding or header
 */
export async function* readRows(
  source: RowSource,
  signal: AbortSignal,
  fields?: InputFields,
): AsyncGenerator<SourceRow> {
  const text = decodeUtf8Stream(openWhenRead(source, signal), source.name);
  const ids = new RowIds();
  const unwrapsItems = fields?.isKnown === true && !fields.text.some(({ key }) => key === 'item');

  const rows =
    source.format === 'csv' ? await readCsvRows(text, source) : readJsonl(text, { unwrapsItems });
  for await (const row of rows) {
    yield isFaulty(row) ? row : (findImageFault(row) ?? findDuplicateIdFault(row, ids) ?? row);
  }
}

/**
 * Opens the source only when it is read: a stream without a reader would end the process if it
 * failed.
 */
async function* openWhenRead(
  source: RowSource,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | string> {
  yield* source.open(signal);
}

async function readCsvRows(
  text: AsyncIterable<string>,
  { name, delimiter }: RowSource,
): Promise<AsyncIterable<SourceRow>> {
  const { readCsv } = await import('./csv.ts');
  return readCsv(text, { name, delimiter });
}

function findImageFault({ row, line, id, inputs }: ReadableRow): SourceRow | undefined {
  if (!inputs.images.includes('-')) return undefined;
  return toFaultyRow({ row, line }, "an image of a row can't come from standard input", id);
}

/**
 * Gives the second of two rows with the same id another one, so that its result isn't taken for the
 * first one's.
 */
function findDuplicateIdFault(readableRow: ReadableRow, ids: RowIds): SourceRow | undefined {
  const firstRow = ids.add(readableRow);
  if (firstRow === undefined) return undefined;

  const { row, line, id } = readableRow;
  const message = `its id ${JSON.stringify(id)} is already the id of row ${firstRow}`;
  return toFaultyRow({ row, line }, message, `${id} (row ${row})`);
}
