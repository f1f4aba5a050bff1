import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { replaceDurably } from '../../core/durable-file.ts';
import { isObject } from '../../core/json-value.ts';
import { usageError } from '../../errors.ts';
import { readTable } from '../rows/csv.ts';
import type { SourceRow } from '../rows/row.ts';
import { type JobState, unwritable } from '../run/job-journal.ts';
import { openFault } from './jsonl-results.ts';
import { type ResultState, type Results, type ResultsLine, resultState } from './results-line.ts';

const FIXED = ['runId', 'runStatus', 'error'];

type Cells = Readonly<Record<string, string>>;

/** A result as it is written, and as the journal keeps it. */
interface Kept {
  readonly row: number;
  /** The row's own columns. */
  readonly cells: Cells;
  /** runId, runStatus, error, and each output. */
  readonly values: readonly string[];
}

/**
 * Results as a table: the row's own columns, then runId, runStatus, error, output1 and so on. A table can't be added to
 * once it needs more columns, so it is rewritten at the end; what it holds is known from the batch's journal, or
 * else, row by row, from the rows' own columns.
 */
export class CsvResults implements Results {
  readonly states = new Map<string, ResultState>();
  readonly existed: boolean;
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #kept = new Map<string, Kept>();
  readonly #unclaimed: Kept[];
  #header: readonly string[] = [];
  #isWhole = true;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: string, handle: FileHandle, unclaimed: Kept[]) {
    this.#file = file;
    this.#handle = handle;
    this.#unclaimed = unclaimed;
    this.existed = unclaimed.length > 0;
  }

  /** @throws {CliError} where the file exists and is not to be gone on with, or is not a table of results */
  static async open(
    ctx: Context,
    { out, resume }: { readonly out: string; readonly resume: boolean },
    before: ReadonlyMap<string, JobState>,
  ): Promise<CsvResults> {
    const file = path.resolve(ctx.cwd, out);
    const handle = await open(file, resume ? 'a+' : 'ax+').catch((error: unknown) => {
      throw openFault(error, file, out);
    });
    try {
      const results = new CsvResults(
        file,
        handle,
        resume && before.size === 0 ? await readKept(file, out) : [],
      );
      if (before.size > 0) await results.#recall(before);
      return results;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Everything is in the journal of a batch that has not ended: the table is rebuilt from it. */
  async #recall(before: ReadonlyMap<string, JobState>): Promise<void> {
    await this.#handle.truncate(0);
    for (const [id, { result }] of before) {
      if (isKept(result)) await this.#add(id, result);
    }
  }

  /** Without a journal a row is known again by its own columns. */
  recognise({ id, row, cells = {} }: SourceRow): void {
    const at = this.#unclaimed.findIndex(kept => sameCells(kept.cells, cells));
    const [kept] = at === -1 ? [] : this.#unclaimed.splice(at, 1);
    if (kept !== undefined) this.#keep(id, { ...kept, row });
  }

  keptOf({ runId, runStatus, error, outputs }: ResultsLine, { row, cells = {} }: SourceRow): Kept {
    return { row, cells, values: [runId ?? '', runStatus, error ?? '', ...outputs.map(({ data }) => data)] };
  }

  async give(line: ResultsLine, row: SourceRow): Promise<boolean> {
    const adding = this.#writing.then(() => this.#add(row.id, this.keptOf(line, row)));
    this.#writing = adding.catch(() => {});
    await adding.catch((error: unknown) => {
      throw unwritable(this.#file, error);
    });
    return true;
  }

  async #add(id: string, kept: Kept): Promise<void> {
    if (this.#kept.has(id)) this.#isWhole = false;
    this.#keep(id, kept);
    const own = Object.keys(kept.cells);
    const first = this.#header.length === 0;
    if (first) {
      this.#header = headerOf([kept]);
      await this.#handle.appendFile(csvLine(this.#header));
    } else if (!headerFits(this.#header, own, kept.values.length)) {
      this.#isWhole = false;
    }
    await this.#handle.appendFile(csvLine(recordOf(this.#header, kept)));
  }

  #keep(id: string, kept: Kept): void {
    const [runId = '', runStatus = '', error = '', ...outputs] = kept.values;
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    this.states.set(
      id,
      resultState({
        row: kept.row,
        runStatus,
        runId: runId === '' ? undefined : runId,
        error,
        hasOutputs: outputs.length > 0,
      }),
    );
  }

  async finish(sorted: boolean): Promise<void> {
    await this.#writing;
    if (this.#isWhole && !sorted && !this.existed) return this.#handle.sync();
    const all = [...this.#kept.values()];
    if (sorted) all.sort((one, other) => one.row - other.row);
    const header = headerOf(all);
    const text = [csvLine(header), ...all.map(kept => csvLine(recordOf(header, kept)))].join('');
    const { mode } = await this.#handle.stat();
    await replaceDurably(this.#file, mode, target => target.appendFile(text)).catch((error: unknown) => {
      throw unwritable(this.#file, error);
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }
}

function isKept(value: unknown): value is Kept {
  return isObject(value) && isObject(value['cells']) && Array.isArray(value['values']);
}

async function readKept(file: string, given: string): Promise<Kept[]> {
  const [header = [], ...records] = await readTable(
    createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>,
  );
  const at = header.findIndex((_, column) => FIXED.every((name, next) => header[column + next] === name));
  if (header.length > 0 && at === -1) {
    throw usageError(`${given}: this is not a table of results of a batch`, 'name the file the batch wrote');
  }
  return records.map((record, row) => ({
    row: row + 1,
    cells: Object.fromEntries(header.slice(0, at).map((name, column) => [name, record[column] ?? ''])),
    values: withoutEmptyEnd(record.slice(at)),
  }));
}

function withoutEmptyEnd(values: readonly string[]): string[] {
  const last = values.findLastIndex(value => value !== '');
  return values.slice(0, Math.max(FIXED.length, last + 1));
}

function sameCells(one: Cells, other: Cells): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every(name => (one[name] ?? '') === (other[name] ?? ''));
}

function headerOf(all: readonly Kept[]): string[] {
  const own = new Set(all.flatMap(({ cells }) => Object.keys(cells)));
  const outputs = all.reduce((most, { values }) => Math.max(most, values.length - FIXED.length), 0);
  return [...own, ...FIXED, ...Array.from({ length: outputs }, (_, at) => `output${at + 1}`)];
}

function headerFits(header: readonly string[], own: readonly string[], values: number): boolean {
  const at = header.indexOf('runId');
  return own.every(name => header.slice(0, at).includes(name)) && header.length - at >= values;
}

/** As many cells as the header has: readers of tables refuse a record that lacks some. */
function recordOf(header: readonly string[], { cells, values }: Kept): string[] {
  const at = header.indexOf('runId');
  const missing = Math.max(0, header.length - at - values.length);
  return [
    ...header.slice(0, at).map(name => cells[name] ?? ''),
    ...values,
    ...Array<string>(missing).fill(''),
  ];
}

function csvLine(values: readonly string[]): string {
  return `${values.map(quoted).join(',')}\n`;
}

function quoted(value: string): string {
  return /[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
