import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppendLog, openForAppend } from '../../../files/append-log.ts';
import { isDirectory, syncDirectory } from '../../../files/directories.ts';
import { messageOf } from '../../../files/error-utils.ts';
import { isObject } from '../../core/json-value.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';
import { textLines } from '../rows/text-lines.ts';
import type { JobJournal, JobName } from './job.ts';

/** What all jobs of a batch have in common; a batch that is resumed with others would mix results. */
export interface BatchFacts {
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly promptVersionId: string;
  readonly options: Readonly<Record<string, string>>;
}

/** How far a job is, as its last line in the journal says. */
export interface JobState {
  readonly row: number;
  readonly step: 'creating' | 'waiting' | 'running' | 'succeeded' | 'failed';
  /** Its latest creation, with the digest of its inputs; undefined where nothing was ever sent. */
  readonly entry: JournalEntry | undefined;
  readonly runId: string | undefined;
  readonly recovered: boolean;
  /** Why it failed. */
  readonly error: string | undefined;
  /** It failed with a fault of the service, which may have made a run all the same. */
  readonly mayHaveRun: boolean;
  /** The result, where the results themselves can't be read back. */
  readonly result: unknown;
}

/** How a job ended. */
export interface JobEnd {
  readonly step: 'succeeded' | 'failed';
  readonly runId: string | null;
  readonly error: string | null;
  readonly mayHaveRun?: boolean;
  readonly result?: unknown;
}

/** The journal that a batch is resumed from: a file of its own beside the results. */
export class BatchJournal implements JobJournal {
  readonly file: string;
  /** What it said of each job when it was opened, by the job's id. */
  readonly states: ReadonlyMap<string, JobState>;
  /** What it was begun, or last resumed, with; undefined where it is new. */
  readonly facts: BatchFacts | undefined;
  readonly #lines: AppendLog;

  private constructor(file: string, handle: FileHandle, read: ReadJournal) {
    this.file = file;
    this.states = read.states;
    this.facts = read.facts;
    this.#lines = AppendLog.on(handle);
  }

  /** Opens a journal to go on with it, or makes one. @throws {CliError} where it can't be written or is another file */
  static async open(file: string): Promise<BatchJournal> {
    if (!isDirectory(path.dirname(file))) {
      throw usageError(`--out: there is no directory ${path.dirname(file)}`);
    }
    // Read before it is opened for writing: it may be another file, named by mistake.
    const read = await readJournal(file);
    const handle = await openForAppend(file).catch((error: unknown) => {
      throw usageError(`${file} can't be written: ${messageOf(error)}`);
    });
    return new BatchJournal(file, handle, read);
  }

  /** Writes what jobs are run with from now on. */
  begin(facts: BatchFacts, time: string): Promise<void> {
    return this.#append({ batch: 1, time, ...facts });
  }

  creating({ row, id }: JobName, entry: JournalEntry): Promise<void> {
    const { id: journalId, inputsDigest: digest, promptVersionId, time, clockOffsetMs } = entry;
    const offset = clockOffsetMs === undefined ? {} : { clockOffsetMs };
    return this.#append({ row, id, state: 'creating', digest, journalId, promptVersionId, time, ...offset });
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
  candidates({ row, id }: JobName, candidates: readonly string[]): Promise<void> {
    return this.#append({ row, id, candidates });
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

/** A file of a batch that can't be written any more: what comes after is not started. */
export function unwritable(file: string, cause: unknown): CliError {
  return new CliError(`${file} can't be written: ${messageOf(cause)}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: ['No more rows were started. Make room, then go on with --resume.'],
    cause,
  });
}

interface ReadJournal {
  readonly states: Map<string, JobState>;
  readonly facts: BatchFacts | undefined;
}

/** A last line that a crash tore announced a step that was not taken: it is left out. */
async function readJournal(file: string): Promise<ReadJournal> {
  const states = new Map<string, JobState>();
  let facts: BatchFacts | undefined;
  if (!existsSync(file)) return { states, facts };
  const text = createReadStream(file, { encoding: 'utf8' });
  let torn: number | undefined;
  for await (const { text: source, line } of textLines(text as AsyncIterable<string>)) {
    if (torn !== undefined) refuse(file, torn);
    const value = parsed(source);
    if (!isObject(value)) torn = source === '' ? undefined : line;
    else if (value['batch'] === 1) facts = factsIn(value);
    else if (facts === undefined) refuse(file, line);
    else takeStep(states, value, facts);
  }
  if (torn === 1) refuse(file, torn);
  return { states, facts };
}

function refuse(file: string, line: number): never {
  throw usageError(
    `${file}, line ${line}: this is not the journal of a batch`,
    'move the file away, or name another with --out',
  );
}

function factsIn(value: Readonly<Record<string, unknown>>): BatchFacts {
  const { service, promptVersionId, options } = value;
  return {
    service: String(service),
    promptVersionId: String(promptVersionId),
    options: (isObject(options) ? options : {}) as Record<string, string>,
  };
}

const STEPS = ['creating', 'waiting', 'running', 'succeeded', 'failed'] as const;

function takeStep(
  states: Map<string, JobState>,
  value: Readonly<Record<string, unknown>>,
  { service }: BatchFacts,
): void {
  const { row, id, state, runId, error, recovered, mayHaveRun, result } = value;
  const step = STEPS.find(known => known === state);
  if (typeof id !== 'string' || step === undefined) return;
  const before = states.get(id);
  states.set(id, {
    row: Number(row),
    step,
    entry: step === 'creating' ? entryIn(value, service) : before?.entry,
    runId: textOf(runId) ?? (step === 'creating' || step === 'waiting' ? undefined : before?.runId),
    recovered: recovered === true || (before?.recovered === true && step !== 'creating'),
    error: textOf(error),
    mayHaveRun: mayHaveRun === true,
    result,
  });
}

function entryIn(value: Readonly<Record<string, unknown>>, service: string): JournalEntry | undefined {
  const { journalId, time, promptVersionId, digest, clockOffsetMs } = value;
  if (typeof journalId !== 'string' || typeof time !== 'string' || Number.isNaN(Date.parse(time))) {
    return undefined;
  }
  return {
    id: journalId,
    time,
    baseUrl: service,
    promptVersionId: String(promptVersionId),
    inputsDigest: String(digest),
    ...(typeof clockOffsetMs === 'number' && { clockOffsetMs }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch {
    return undefined;
  }
}
