import { ProtocolError } from '../../client/errors.ts';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { withSpinner } from '../terminal/spinner.ts';
import { type Cell, formatPlainRow } from '../terminal/table.ts';
import { createCellFormatter, type ListForm, presentList } from './present.ts';
import { formatJsonLine, printValue, toJson } from './print-json.ts';

/** Yields the pages of a list as they arrive; returns a value for after the last one. */
export type Pages<T, R = void> = AsyncGenerator<readonly T[], R>;

interface PagesForm<T> extends ListForm<T> {
  /** The plural noun of the rows, for messages. */
  readonly noun: string;
  /** True for one JSON row per line; default false. */
  readonly ndjson?: boolean | undefined;
}

/**
 * Shows a list like `presentList`, but each row as soon as its page arrives. A table and `--query`
 * need the whole list, whose size is then limited.
 *
 * @returns the value that `pages` returns; undefined if the reader was gone before
 */
export async function presentPages<T, R>(
  ctx: Context,
  pages: Pages<T, R>,
  form: PagesForm<T>,
): Promise<R | undefined> {
  const { ndjson = false, cells = createCellFormatter(form.columns) } = form;
  if (ndjson) return await writeRows(ctx, pages, row => formatJsonLine(ctx, row));

  if (ctx.globals.query === undefined) {
    if (ctx.globals.json) return await writeArray(ctx, pages, form.noun);
    if (!ctx.io.stdout.isTerminal) {
      return await writeRows(ctx, pages, row => formatPlainRow(cells(row)));
    }
  }

  return await presentWholeList(ctx, pages, form);
}

async function writeRows<T, R>(
  ctx: Context,
  pages: Pages<T, R>,
  formatLine: (row: T) => string | Promise<string>,
): Promise<R | undefined> {
  let page = await pages.next();
  for (; page.done !== true; page = await pages.next()) {
    const lines: string[] = [];
    for (const row of page.value) lines.push(await formatLine(row));
    if (!(await ctx.io.out(lines.join('')))) return undefined;
  }
  return page.value;
}

/** Writes one JSON array. It stays open if a page fails. */
async function writeArray<T, R>(
  ctx: Context,
  pages: Pages<T, R>,
  noun: string,
): Promise<R | undefined> {
  const { isTerminal } = ctx.io.stdout;
  let page = await withSpinner(ctx, `asking for the ${noun}`, pages.next());
  let separator = '[\n';
  for (; page.done !== true; page = await pages.next()) {
    for (const row of page.value) {
      const text = (await toJson(row, { isTerminal })).replaceAll('\n', '\n  ');
      if (!(await ctx.io.out(`${separator}  ${text}`))) return undefined;
      separator = ',\n';
    }
  }

  await ctx.io.out(separator === '[\n' ? '[]\n' : '\n]\n');
  return page.value;
}

async function presentWholeList<T, R>(
  ctx: Context,
  pages: Pages<T, R>,
  form: PagesForm<T>,
): Promise<R> {
  const { columns, noun, emptyText } = form;
  const status = `asking for the ${noun}`;
  if (ctx.globals.json) {
    const buffer = createRowBuffer<T>(noun, '--query');
    const value = await withSpinner(ctx, status, collectRows(pages, buffer.add));
    await printValue(ctx, buffer.rows);
    return value;
  }

  // Keeps only the cells, because a row may hold far more.
  const buffer = createRowBuffer<Cell[]>(noun);
  const toCells = (row: T): Cell[] => columns.map(({ cell }) => cell(row));
  const collecting = collectRows(pages, rows => buffer.add(rows.map(toCells)));
  const value = await withSpinner(ctx, status, collecting);

  const cellColumns = columns.map((column, index) => ({
    ...column,
    plain: null,
    cell: (row: Cell[]) => row[index] ?? '',
  }));
  await presentList(ctx, buffer.rows, {
    columns: cellColumns,
    ...(emptyText !== undefined && { emptyText }),
  });
  return value;
}

async function collectRows<T, R>(
  pages: Pages<T, R>,
  add: (rows: readonly T[]) => void,
): Promise<R> {
  let page = await pages.next();
  for (; page.done !== true; page = await pages.next()) add(page.value);
  return page.value;
}

/**
 * Maximum length of buffered rows as JSON, in UTF-16 code units; as values they take two to three
 * times the memory.
 */
const MAX_BUFFERED_LENGTH = 64 * 1024 * 1024;

/** Rows that are shown only after all have arrived. */
export interface RowBuffer<T> {
  readonly rows: readonly T[];
  /** Adds rows. @throws {CliError | ProtocolError} if together they are too large to hold */
  readonly add: (rows: readonly T[]) => void;
}

/**
 * Starts to collect the rows of a list.
 *
 * @param noun the plural noun of the rows
 * @param flag the flag that needs the whole list; default: a table on a terminal
 */
export function createRowBuffer<T>(noun: string, flag?: string): RowBuffer<T> {
  const rows: T[] = [];
  let size = 0;
  return {
    rows,
    add: pageRows => {
      size += JSON.stringify(pageRows).length;
      if (size > MAX_BUFFERED_LENGTH) throw listTooLargeError(noun, flag);
      for (const row of pageRows) rows.push(row);
    },
  };
}

function listTooLargeError(noun: string, flag?: string): Error {
  const size = `more than ${MAX_BUFFERED_LENGTH / 1024 / 1024} MiB`;
  if (flag === undefined) return new ProtocolError(`the service's list of ${noun} has ${size}`);
  return usageError(
    `${flag}: the list of ${noun} has ${size}, which ${flag} would have to hold at once`,
    'Narrow the list, or leave out the flag.',
  );
}
