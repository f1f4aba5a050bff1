import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Run } from '../../../wire/index.ts';
import { codeOf } from '../../core/error-utils.ts';
import { isObject } from '../../core/json-value.ts';
import type { TestFile } from '../cases/read-test-file.ts';
import type { EntryStatus } from '../result.ts';
import { entryKey, type PreparedEntry } from './prepare-entries.ts';

/** What is known of a repetition from a test that was interrupted. */
export interface KeptRepetition {
  /** Of the creation that was begun. */
  readonly journalId?: string;
  readonly runId?: string;
  readonly ended?: { readonly run: Run; readonly seconds: number };
}

/** What a test notes while it runs, so that it can be resumed and its failures run again. */
export interface TestState {
  before(prepared: PreparedEntry, repetition: number): KeptRepetition | undefined;
  begun(prepared: PreparedEntry, repetition: number, journalId: string): Promise<void>;
  created(prepared: PreparedEntry, repetition: number, runId: string): Promise<void>;
  ended(
    prepared: PreparedEntry,
    repetition: number,
    ended: { readonly run: Run; readonly seconds: number },
  ): Promise<void>;
  finished(prepared: PreparedEntry, status: EntryStatus): Promise<void>;
}

interface Line {
  readonly key: string;
  readonly repetition?: number;
  readonly journalId?: string;
  readonly runId?: string;
  readonly run?: Run;
  readonly seconds?: number;
  readonly status?: EntryStatus;
}

/** The notes of the tests of one machine, a file for each test file in the state directory. */
export class StateFiles implements TestState {
  readonly #directory: string;
  readonly #lines: ReadonlyMap<string, readonly Line[]>;
  readonly #resume: boolean;

  private constructor(directory: string, lines: ReadonlyMap<string, readonly Line[]>, resume: boolean) {
    this.#directory = directory;
    this.#lines = lines;
    this.#resume = resume;
  }

  /** Reads what earlier tests noted; without `resume` only how each case ended is kept of it. */
  static async open(stateDir: string, files: readonly TestFile[], resume: boolean): Promise<StateFiles> {
    const directory = path.join(stateDir, 'tests');
    const lines = new Map<string, readonly Line[]>();
    for (const { file } of files) {
      lines.set(file, await readLines(stateFile(directory, file)));
    }
    return new StateFiles(directory, lines, resume);
  }

  /** Forgets the runs of earlier tests, unless they are to be resumed. */
  async begin(files: readonly TestFile[]): Promise<void> {
    if (!this.#resume) {
      await this.complete(files);
    }
  }

  /** Keeps how each case ended, and nothing to resume. */
  async complete(files: readonly TestFile[]): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    for (const { file } of files) {
      const lines = await readLines(stateFile(this.#directory, file));
      const statuses = lines.filter(({ status }) => status !== undefined);
      const latest = new Map(statuses.map(line => [`${line.key} ${line.repetition}`, line]));
      const text = [...latest.values()].map(line => `${JSON.stringify(line)}\n`).join('');
      await writeFile(stateFile(this.#directory, file), text, { mode: 0o600 });
    }
  }

  /** Whether a case did not pass when it was last run. */
  hasFailed(prepared: PreparedEntry): boolean {
    const own = this.#of(prepared).filter(line => line.repetition === prepared.firstRepetition);
    const status = own.findLast(line => line.status !== undefined)?.status;
    return status === 'failed' || status === 'fault';
  }

  before(prepared: PreparedEntry, repetition: number): KeptRepetition | undefined {
    if (!this.#resume) {
      return undefined;
    }
    const ordinal = prepared.firstRepetition + repetition - 1;
    const lines = this.#of(prepared).filter(line => line.repetition === ordinal);
    const ended = lines.findLast(({ run }) => run !== undefined);
    const runId = lines.findLast(line => line.runId !== undefined)?.runId;
    const journalId = lines.findLast(line => line.journalId !== undefined)?.journalId;
    return {
      ...(journalId !== undefined && { journalId }),
      ...(runId !== undefined && { runId }),
      ...(ended?.run !== undefined && { ended: { run: ended.run, seconds: ended.seconds ?? 0 } }),
    };
  }

  begun(prepared: PreparedEntry, repetition: number, journalId: string): Promise<void> {
    return this.#append(prepared, {
      key: entryKey(prepared),
      repetition: prepared.firstRepetition + repetition - 1,
      journalId,
    });
  }

  created(prepared: PreparedEntry, repetition: number, runId: string): Promise<void> {
    return this.#append(prepared, {
      key: entryKey(prepared),
      repetition: prepared.firstRepetition + repetition - 1,
      runId,
    });
  }

  ended(
    prepared: PreparedEntry,
    repetition: number,
    { run, seconds }: { readonly run: Run; readonly seconds: number },
  ): Promise<void> {
    return this.#append(prepared, {
      key: entryKey(prepared),
      repetition: prepared.firstRepetition + repetition - 1,
      run,
      seconds,
    });
  }

  finished(prepared: PreparedEntry, status: EntryStatus): Promise<void> {
    const { firstRepetition: repetition } = prepared;
    return this.#append(prepared, { key: entryKey(prepared), repetition, status });
  }

  #of(prepared: PreparedEntry): readonly Line[] {
    const key = entryKey(prepared);
    return (this.#lines.get(prepared.entry.file.file) ?? []).filter(line => line.key === key);
  }

  async #append({ entry }: PreparedEntry, line: Line): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await appendFile(stateFile(this.#directory, entry.file.file), `${JSON.stringify(line)}\n`, {
      mode: 0o600,
    });
  }
}

function stateFile(directory: string, file: string): string {
  return path.join(directory, `${createHash('sha256').update(file).digest('hex').slice(0, 32)}.jsonl`);
}

/** A line that was cut short by a crash is left out. */
async function readLines(file: string): Promise<Line[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') {
      return '';
    }
    throw error;
  });
  return text.split('\n').flatMap(line => {
    try {
      const value: unknown = JSON.parse(line);
      return isObject(value) && typeof value['key'] === 'string' ? [value as unknown as Line] : [];
    } catch {
      return [];
    }
  });
}
