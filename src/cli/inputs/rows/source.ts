import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { NamingFolder } from '../named-file.ts';
import { fileFault } from '../read-text.ts';
import { readJsonl } from './jsonl.ts';
import { isFaulty, type ReadableRow, RowIds, type SourceRow } from './row.ts';
import { decodeUtf8Stream } from './text-lines.ts';

export const FORMATS = ['csv', 'jsonl'] as const;
export type Format = (typeof FORMATS)[number];

/** Where the rows of a batch come from. */
export interface RowSource {
  /** For messages: the file as it was named, or standard input. */
  readonly name: string;
  readonly format: Format;
  /** What separates the cells of CSV; what its header has if undefined. */
  readonly delimiter: string | undefined;
  /** Whether it can be read from its start more than once. */
  readonly repeatable: boolean;
  /** Its bytes from the start, until `signal` is aborted. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array | string>;
}

/** Where rows are read from, as flags name it. */
export interface SourceFlags {
  readonly from: string;
  readonly format: Format | undefined;
  readonly delimiter: string | undefined;
}

/** @throws {CliError} where the file can't be read, or its format is not known */
export async function openSource(ctx: Context, flags: SourceFlags): Promise<RowSource> {
  const { from, format } = flags;
  const delimiter = flags.delimiter === undefined ? undefined : parseDelimiter(flags.delimiter);
  if (from === '-') {
    if (format === undefined) throw usageError('--from - needs --format csv or --format jsonl');
    const open = (signal: AbortSignal): ReturnType<RowSource['open']> => standardInput(ctx, signal);
    return { name: 'standard input', format, delimiter, repeatable: false, open };
  }
  const file = path.resolve(ctx.cwd, from);
  const { isFile } = await statFile(file, from);
  return {
    name: from,
    format: format ?? formatOf(from),
    delimiter,
    repeatable: isFile,
    open: signal => createReadStream(file, { signal }),
  };
}

/** Where rows find the files they name: beside their own file, or in the working directory. */
export function rowsFolder({ cwd }: Context, from: string, allowOutside: boolean): NamingFolder {
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

async function statFile(file: string, name: string): Promise<{ isFile: boolean }> {
  const stats = await stat(file).catch((error: unknown) => {
    throw fileFault(error, name, '--from');
  });
  if (stats.isDirectory()) throw usageError(`--from: ${name} is a directory`);
  return { isFile: stats.isFile() };
}

function formatOf(file: string): Format {
  switch (path.extname(file).toLowerCase()) {
    case '.csv':
      return 'csv';
    case '.jsonl':
    case '.ndjson':
      return 'jsonl';
    default:
      throw usageError(
        `--from: the name of ${file} does not tell its format`,
        'add --format csv or --format jsonl',
      );
  }
}

/** Ends at once when aborted, though nothing more may ever come. */
function standardInput(ctx: Context, signal: AbortSignal): AsyncIterable<Uint8Array | string> {
  const { stream } = ctx.io.stdin;
  const giveUp = (): unknown => stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  return stream as AsyncIterable<Uint8Array | string>;
}

/**
 * A source that can be read more than once: one that can't is read to its end and held in memory, so that nothing of
 * it is left on disk.
 */
export async function repeatableSource(source: RowSource, signal: AbortSignal): Promise<RowSource> {
  if (source.repeatable) return source;
  const pieces: (Uint8Array | string)[] = [];
  for await (const piece of source.open(signal)) pieces.push(piece);
  return {
    ...source,
    repeatable: true,
    async *open() {
      yield* pieces;
    },
  };
}

/**
 * The rows of a source, one at a time. What is wrong with one row is a fault of that row.
 *
 * @throws {CliError} for what is wrong with all of them: an encoding, a header
 */
export async function* readRows(source: RowSource, signal: AbortSignal): AsyncGenerator<SourceRow> {
  const text = decodeUtf8Stream(openedWhenRead(source, signal), source.name);
  const ids = new RowIds();
  for await (const row of source.format === 'csv' ? await csvRows(text, source.delimiter) : readJsonl(text)) {
    yield isFaulty(row) ? row : (imageFault(row) ?? twinFault(row, ids) ?? row);
  }
}

/** A stream that nobody reads yet would end the process if it failed. */
async function* openedWhenRead(source: RowSource, signal: AbortSignal): AsyncGenerator<Uint8Array | string> {
  yield* source.open(signal);
}

async function csvRows(
  text: AsyncIterable<string>,
  delimiter: string | undefined,
): Promise<AsyncIterable<SourceRow>> {
  const { readCsv } = await import('./csv.ts');
  return readCsv(text, delimiter);
}

function imageFault(row: ReadableRow): SourceRow | undefined {
  return row.inputs.images.includes('-')
    ? faulty(row, row.id, "an image of a row can't come from standard input")
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
