import { type FileHandle, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppendLog, openForAppend } from '../../files/append-log.ts';
import { isDirectory, syncDirectory } from '../../files/directories.ts';
import { messageOf } from '../../files/error-utils.ts';
import { type FileBelow, PathFault } from '../../files/write-below.ts';
import { replaceFile } from '../../files/write-file.ts';
import type { RunRow } from '../../wire/index.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import type { JobJournal, JobName } from './job.ts';
import { type ExtraCreation, type JobState, type ReadJournal, readJournal } from './read-journal.ts';

/** What all jobs of a batch have in common; a batch that is resumed with others would mix results. */
interface BatchFacts {
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly promptVersionId: string;
  readonly options: Readonly<Record<string, string>>;
  /** How many jobs there are; undefined if that is not known in advance. */
  readonly rows?: number | undefined;
}

/** How a job ended. */
export interface JobEnd {
  readonly step: 'succeeded' | 'failed';
  readonly runId: string | null;
  readonly error: string | null;
  readonly mayHaveRun?: boolean;
  readonly result?: unknown;
}

/** The journal that a batch, or a test, is resumed from. */
export class BatchJournal implements JobJournal {
  readonly file: string;
  readonly #place: FileBelow;
  /** What it was begun, or last resumed, with; undefined where it is new. */
  readonly facts: ReadJournal['facts'];
  /** Creations that jobs needed besides their own when it was opened, by their ids in the machine's journal. */
  readonly extras: ReadonlyMap<string, ExtraCreation>;
  readonly #states: Map<string, JobState>;
  readonly #marks: Map<string, string>;
  #lines: AppendLog;

  private constructor(place: FileBelow, handle: FileHandle, read: ReadJournal) {
    this.#place = place;
    this.file = path.join(place.folder, place.name);
    this.facts = read.facts;
    this.extras = read.extras;
    this.#states = read.states;
    this.#marks = read.marks;
    this.#lines = AppendLog.on(handle);
  }

  /**
   * Opens a journal to go on with it, or makes one. What a torn last line announced is in doubt at most.
   *
   * @throws {CliError} where it can't be written or is another file
   */
  static async open(file: FileBelow): Promise<BatchJournal> {
    if (!isDirectory(file.folder)) throw usageError(`--out: there is no directory ${file.folder}`);
    // Read before it is opened for writing: it may be another file, named by mistake.
    const read = await readJournal(file);
    return new BatchJournal(file, await openFile(file), read);
  }

  /** What it said of each job when it was opened, by the job's id. */
  get states(): ReadonlyMap<string, JobState> {
    return this.#states;
  }

  /** What was last marked of each job, by its id. */
  get marks(): ReadonlyMap<string, string> {
    return this.#marks;
  }

  /** Writes what jobs are run with from now on. */
  begin(facts: BatchFacts, time: string): Promise<void> {
    return this.#append({ batch: 1, time, ...facts });
  }

  creating(job: JobName, entry: JournalEntry): Promise<void> {
    return this.#append(creationLine(job, entry));
  }

  waiting({ row, id }: JobName): Promise<void> {
    return this.#append({ row, id, state: 'waiting' });
  }

  running({ row, id }: JobName, runId: string, recovered: boolean): Promise<void> {
    return this.#append({ row, id, state: 'running', runId, ...(recovered && { recovered }) });
  }

  /** The job has ended; its result may be given from now on. */
  ended({ row, id }: JobName, { step, ...end }: JobEnd): Promise<void> {
    return this.#append({ row, id, state: step, ...end });
  }

  /** The runs that a creation in doubt may have made. */
  candidates({ row, id }: JobName, runs: readonly RunRow[]): Promise<void> {
    return this.#append({ row, id, candidates: runs.map(({ runId }) => runId) });
  }

  /** Writes something of a job that outlives what is known of its run. */
  mark(id: string, mark: string): Promise<void> {
    return this.#append({ id, mark });
  }

  /** A creation that a job needs besides its own is about to be sent. */
  extra(job: string, entry: JournalEntry): Promise<void> {
    return this.#append(extraLine(job, entry));
  }

  /** What such a creation came to: its run, or null if it made none. */
  extraEnded(journalId: string, runId: string | null): Promise<void> {
    return this.#append({ journalId, runId });
  }

  /** Forgets jobs: the journal is written anew without them. */
  async forget(ids: Iterable<string>): Promise<void> {
    const forgotten = new Set(ids);
    for (const id of forgotten) this.#states.delete(id);
    await this.close();
    const extras = [...this.extras].filter(([, { job }]) => job !== undefined && !forgotten.has(job));
    const lines = [
      ...extras.flatMap(([journalId, extra]) => extraLines(journalId, extra)),
      ...[...this.#marks].map(([id, mark]) => ({ id, mark })),
      ...[...this.#states].flatMap(([id, state]) => stateLines(id, state)),
    ];
    const all = lines.length === 0 ? [] : [{ batch: 1, ...this.facts }, ...lines];
    const text = all.map(line => `${JSON.stringify(line)}\n`).join('');
    await replaceFile(this.#place, text, 0o600);
    this.#lines = AppendLog.on(await openFile(this.#place));
  }

  async #append(line: object): Promise<void> {
    try {
      await this.#lines.append(line);
    } catch (error) {
      throw unwritable(this.file, error);
    }
  }

  close(): Promise<void> {
    return this.#lines.close();
  }

  /** Removes it: every job has ended. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.file, { force: true });
    await syncDirectory(path.dirname(this.file));
  }
}

function extraLine(job: string | undefined, entry: JournalEntry): object {
  const { id: journalId, inputsDigest: digest, promptVersionId, time } = entry;
  return { job, journalId, digest, promptVersionId, time };
}

function extraLines(journalId: string, { job, entry, runId }: ExtraCreation): object[] {
  const begun = entry === undefined ? { job, journalId } : extraLine(job, entry);
  return [begun, ...(runId === undefined ? [] : [{ journalId, runId }])];
}

function creationLine({ row, id }: JobName, entry: JournalEntry): object {
  const { id: journalId, inputsDigest: digest, promptVersionId, time, clockOffsetMs } = entry;
  const offset = clockOffsetMs === undefined ? {} : { clockOffsetMs };
  return { row, id, state: 'creating', digest, journalId, promptVersionId, time, ...offset };
}

function stateLines(id: string, { row, step, entry, runIds, ...state }: JobState): object[] {
  const lines: object[] = runIds.map(runId => ({ row, id, state: 'running', runId }));
  if (entry !== undefined) lines.push(creationLine({ row, id }, entry));
  return step === 'creating' ? lines : [...lines, { row, id, state: step, ...state }];
}

/** A file of a batch that can't be written any more: what comes after is not started. */
export function unwritable(file: string, cause: unknown): Error {
  if (cause instanceof PathFault) return cause;
  return new CliError(`${file} can't be written: ${messageOf(cause)}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: ['Nothing more was started. Make room, then go on with --resume.'],
    cause,
  });
}

async function openFile(file: FileBelow): Promise<FileHandle> {
  try {
    return await openForAppend(file);
  } catch (error) {
    if (error instanceof PathFault) throw error;
    throw usageError(`${path.join(file.folder, file.name)} can't be written: ${messageOf(error)}`);
  }
}
