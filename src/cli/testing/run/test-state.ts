import { createHash } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { codeOf } from '../../../files/error-utils.ts';
import type { Run } from '../../../wire/index.ts';
import type { JobJournal, JobName } from '../../batch/run/job.ts';
import { isObject } from '../../core/json-value.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import type { EntryStatus } from '../result.ts';
import type { PreparedEntry } from './prepare-entries.ts';

/** What is known of a repetition from a test that was interrupted. */
export interface KnownRepetition {
  /** Its creation, where that was begun and not refused. */
  readonly entry?: JournalEntry;
  readonly runId?: string;
  readonly ended?: Ended;
}

interface Ended {
  readonly run: Run;
  readonly seconds: number;
}

/** What a test notes of its repetitions while it runs, so that it can be resumed and its failures run again. */
export interface TestState extends JobJournal {
  /** What an interrupted test noted; undefined where it noted nothing, or is not resumed. */
  before(id: string): KnownRepetition | undefined;
  ended(id: string, ended: Ended): Promise<void>;
  finished(prepared: PreparedEntry, status: EntryStatus): Promise<void>;
}

interface Line {
  /** Of the repetition; of a case where there is a status: its first. */
  readonly id: string;
  readonly entry?: JournalEntry;
  /** The creation that was begun was refused for now. */
  readonly refused?: true;
  readonly runId?: string;
  readonly run?: Run;
  readonly seconds?: number;
  readonly status?: EntryStatus;
}

/** The notes of the tests of these files, one file in the state directory for each set of test files. */
export class StateFile implements TestState {
  readonly #file: string;
  readonly #lines: readonly Line[];
  readonly #resume: boolean;

  private constructor(file: string, lines: readonly Line[], resume: boolean) {
    this.#file = file;
    this.#lines = lines;
    this.#resume = resume;
  }

  /** Reads what earlier tests of the same test files noted. */
  static async open(stateDir: string, files: readonly string[], resume: boolean): Promise<StateFile> {
    const names = files.toSorted().join('\0');
    const name = createHash('sha256').update(names).digest('hex').slice(0, 32);
    const file = path.join(stateDir, 'tests', `${name}.jsonl`);
    return new StateFile(file, await readLines(file), resume);
  }

  /** Forgets the runs of earlier tests, unless they are to be resumed. */
  async begin(): Promise<void> {
    if (!this.#resume) {
      await this.complete();
    }
  }

  /** Keeps how each case ended, and nothing to resume. */
  async complete(): Promise<void> {
    makeDirectory(path.dirname(this.#file), 0o700);
    const lines = await readLines(this.#file);
    const latest = new Map(lines.filter(({ status }) => status !== undefined).map(line => [line.id, line]));
    const text = [...latest.values()].map(line => `${JSON.stringify(line)}\n`).join('');
    await writeFile(this.#file, text, { mode: 0o600 });
  }

  /** Whether a case did not pass when it was last run. */
  hasFailed({ key, firstRepetition }: PreparedEntry): boolean {
    const own = this.#lines.filter(
      ({ id, status }) => status !== undefined && id === `${key}-${firstRepetition}`,
    );
    const status = own.at(-1)?.status;
    return status === 'failed' || status === 'fault';
  }

  before(id: string): KnownRepetition | undefined {
    const lines = this.#resume ? this.#lines.filter(line => line.id === id && line.status === undefined) : [];
    const last = lines.at(-1);
    if (last === undefined || last.refused === true) {
      return undefined;
    }
    const entry = lines.findLast(line => line.entry !== undefined)?.entry;
    const runId = lines.findLast(line => line.runId !== undefined)?.runId;
    return {
      ...(entry !== undefined && { entry }),
      ...(runId !== undefined && { runId }),
      ...(last.run !== undefined && { ended: { run: last.run, seconds: last.seconds ?? 0 } }),
    };
  }

  creating({ id }: JobName, entry: JournalEntry): Promise<void> {
    return this.#append({ id, entry });
  }

  waiting({ id }: JobName): Promise<void> {
    return this.#append({ id, refused: true });
  }

  running({ id }: JobName, runId: string): Promise<void> {
    return this.#append({ id, runId });
  }

  ended(id: string, { run, seconds }: Ended): Promise<void> {
    return this.#append({ id, run, seconds });
  }

  finished({ key, firstRepetition }: PreparedEntry, status: EntryStatus): Promise<void> {
    return this.#append({ id: `${key}-${firstRepetition}`, status });
  }

  async #append(line: Line): Promise<void> {
    makeDirectory(path.dirname(this.#file), 0o700);
    await appendFile(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }
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
      return isObject(value) && typeof value['id'] === 'string' ? [value as unknown as Line] : [];
    } catch {
      return [];
    }
  });
}
