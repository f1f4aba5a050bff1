import { type FileHandle, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppendLog, type LineOptions, openForAppend } from '../../files/writing/append-log.ts';
import {
  type ContainedPath,
  isDirectory,
  PathFault,
  syncDirectory,
} from '../../files/writing/write-below.ts';
import { replaceFile } from '../../files/writing/write-file.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { RunRow } from '../../wire/index.ts';
import { CliError, unwritableError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import type { JobJournal, JobName } from './job.ts';
import {
  FORGOTTEN_ID_PREFIX,
  type HandoverEvent,
  type JobEvent,
  toJournalLine,
} from './journal-events.ts';
import {
  type ExtraCreation,
  type HandoverRecord,
  type JobState,
  type JournalContent,
  readJournal,
} from './read-journal.ts';

/** The facts that all jobs of a batch share; resuming a batch with others would mix results. */
export interface BatchFacts {
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly promptVersionId: string;
  readonly options: Readonly<Record<string, string>>;
  /** The number of jobs; undefined if unknown in advance. */
  readonly rows?: number | undefined;
  /** True if this start resumes an earlier one. */
  readonly resumes?: true;
}

/** The end of a job, as its line in the journal says it. */
export interface JobEnd {
  readonly step: 'succeeded' | 'failed';
  readonly runId: string | null;
  readonly error: string | null;
  readonly mayHaveRun?: boolean;
  /** The result, if it can't be read back from a file of results. */
  readonly result?: unknown;
}

/** The journal that a batch, or a test, is resumed from. */
export class BatchJournal implements JobJournal {
  readonly filePath: string;
  readonly #file: ContainedPath;
  readonly #canResume: boolean;
  /** The facts of the latest start; undefined for a new journal. */
  readonly facts: JournalContent['facts'];
  /**
   * The jobs' extra creations when the journal was opened, by their ids in the machine's journal.
   */
  readonly extras: ReadonlyMap<string, ExtraCreation>;
  /** The ids of the jobs and extra creations from before the latest start that resumed nothing. */
  readonly earlierIds: JournalContent['earlierIds'];
  readonly #states: Map<string, JobState>;
  readonly #handovers: JournalContent['handovers'];
  #hasJobs: boolean;
  #log: AppendLog;

  private constructor(
    file: ContainedPath,
    handle: FileHandle,
    content: JournalContent,
    { canResume }: { readonly canResume: boolean },
  ) {
    this.#file = file;
    this.#canResume = canResume;
    this.filePath = path.join(file.folder, file.name);
    this.facts = content.facts;
    this.extras = content.extras;
    this.earlierIds = content.earlierIds;
    this.#hasJobs = content.states.size + content.handovers.size > 0;
    this.#states = content.states;
    this.#handovers = content.handovers;
    this.#log = AppendLog.forHandle(handle);
  }

  /**
   * Opens a journal to resume from it, or creates one. A creation on a torn last line was never
   * sent.
   *
   * @param canResume false if no command can resume from it; default true
   * @throws {CliError} if it can't be written or is not a journal
   */
  static async open(file: ContainedPath, { canResume = true } = {}): Promise<BatchJournal> {
    if (!isDirectory(file.folder)) throw usageError(`--out: no such directory: ${file.folder}`);
    // Read it before opening it for writing, because the user may have named another file by
    // mistake.
    const content = await readJournal(file);
    return new BatchJournal(file, await openForLines(file), content, { canResume });
  }

  /** The jobs' states when the journal was opened, by job id. */
  get states(): ReadonlyMap<string, JobState> {
    return this.#states;
  }

  /** The handovers to a provider when the journal was opened, in order. */
  get handovers(): Iterable<HandoverRecord> {
    return this.#handovers.values();
  }

  /** True once it records more than the starts of a batch. */
  get hasJobs(): boolean {
    return this.#hasJobs;
  }

  /** Writes the facts of this start. */
  begin(facts: BatchFacts, time: string): Promise<void> {
    return this.append({ kind: 'begun', facts: { time, ...facts } });
  }

  recordCreation(job: JobName, entry: JournalEntry): Promise<void> {
    return this.append({ kind: 'step', job, step: 'creating', entry });
  }

  recordWaiting(job: JobName): Promise<void> {
    return this.append({ kind: 'step', job, step: 'waiting' });
  }

  recordRun(
    job: JobName,
    run: { readonly runId: string; readonly recovered: boolean },
  ): Promise<void> {
    return this.append({ kind: 'step', job, step: 'running', ...run });
  }

  /**
   * Records the end of a job; its result may be output from now on.
   *
   * @param options not durable if the service returns the same run for a repeated creation
   */
  recordEnd(job: JobName, end: JobEnd, options?: LineOptions): Promise<void> {
    return this.append({ kind: 'step', job, ...end }, options);
  }

  /** Records the runs that a creation in doubt may have made. */
  recordCandidates(job: JobName, runs: readonly RunRow[]): Promise<void> {
    return this.append({ kind: 'candidates', job, runIds: runs.map(({ runId }) => runId) });
  }

  /** Rewrites the journal without some jobs, and without handovers that contained no others. */
  async forget(isForgotten: (id: string) => boolean): Promise<void> {
    for (const id of [...this.#states.keys()].filter(isForgotten)) this.#states.delete(id);

    for (const [key, { handover, progress }] of this.#handovers) {
      const rows = withForgottenRows(handover.rows, isForgotten);
      if (rows.every(([id]) => id.startsWith(FORGOTTEN_ID_PREFIX))) {
        this.#handovers.delete(key);
      } else {
        this.#handovers.set(key, { handover: { ...handover, rows }, progress });
      }
    }

    const extras = [...this.extras].filter(([, { job }]) => job !== undefined && !isForgotten(job));
    await this.#rewrite([
      ...extras.flatMap(([journalId, extra]) => toExtraEvents(journalId, extra)),
      ...[...this.#handovers.values()].flatMap(listHandoverEvents),
      ...[...this.#states].flatMap(([id, state]) => toStateEvents(id, state)),
    ]);
  }

  /** Writes an event. By default resolves once the event would survive a power cut. */
  async append(event: JobEvent, options?: LineOptions): Promise<void> {
    this.#hasJobs ||= event.kind !== 'begun';
    try {
      await this.#log.append(toJournalLine(event), options);
    } catch (error) {
      throw unwritableFileError(this.filePath, error, { canResume: this.#canResume });
    }
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  /** Removes the journal after every job has ended. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.filePath, { force: true });
    await syncDirectory(path.dirname(this.filePath));
  }

  /** Replaces all events but the beginning. An empty journal needs none. */
  async #rewrite(events: readonly JobEvent[]): Promise<void> {
    const beginning: JobEvent = { kind: 'begun', facts: this.facts ?? {} };
    const allEvents = events.length === 0 ? [] : [beginning, ...events];
    const lines = allEvents.map(event => `${JSON.stringify(toJournalLine(event))}\n`);
    await this.close();
    await replaceFile(this.#file, lines.join(''), 0o600);
    this.#log = AppendLog.forHandle(await openForLines(this.#file));
  }
}

/**
 * Replaces the ids of forgotten rows. The rows keep their places, because later requests are named
 * by their position.
 */
function withForgottenRows(
  rows: HandoverEvent['rows'],
  isForgotten: (id: string) => boolean,
): HandoverEvent['rows'] {
  return rows.map(([id, digest], index) => [
    isForgotten(id) ? `${FORGOTTEN_ID_PREFIX}${index + 1}` : id,
    digest,
  ]);
}

function toExtraEvents(
  journalId: string,
  { job, entry, declarationDigest, runId }: ExtraCreation,
): JobEvent[] {
  const created: JobEvent = {
    kind: 'extra creation',
    journalId,
    job,
    entry,
    declarationDigest,
  };
  return runId === undefined ? [created] : [created, { kind: 'extra end', journalId, runId }];
}

function listHandoverEvents({ handover, progress }: HandoverRecord): JobEvent[] {
  return progress === undefined ? [handover] : [handover, progress];
}

function toStateEvents(id: string, { row, step, entry, runIds, ...state }: JobState): JobEvent[] {
  const job = { id, row };
  const events: JobEvent[] = runIds.map(runId => ({
    kind: 'step',
    job,
    step: 'running',
    runId,
  }));
  if (entry !== undefined) events.push({ kind: 'step', job, step: 'creating', entry });
  return step === 'creating' ? events : [...events, { kind: 'step', job, step, ...state }];
}

/** Returns the error for a file of a batch that can't be written any more; it stops the batch. */
export function unwritableFileError(
  filePath: string,
  cause: unknown,
  { canResume = true }: { readonly canResume?: boolean } = {},
): Error {
  if (cause instanceof PathFault) return cause;
  return new CliError(`${filePath} can't be written: ${getErrorMessage(cause)}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: [
      `No more runs were started. Free some disk space${canResume ? ', then add --resume to the same command' : ''}.`,
    ],
    cause,
  });
}

async function openForLines(file: ContainedPath): Promise<FileHandle> {
  try {
    return await openForAppend(file);
  } catch (error) {
    if (error instanceof PathFault) throw error;
    const filePath = path.join(file.folder, file.name);
    throw unwritableError(
      error,
      usageError(`${filePath} can't be written: ${getErrorMessage(error)}`),
    );
  }
}
