import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  AppendLog,
  type LineOptions,
  openForAppend,
  readLinesBackwards,
} from '../../../files/writing/append-log.ts';
import { renameOver } from '../../../files/writing/rename-over.ts';
import { toContainedPath } from '../../../files/writing/write-below.ts';
import { getErrorCode, ignoreMissing } from '../../../utils/error-utils.ts';
import type { Clock } from '../../core/clock.ts';
import { type JournalEntry, JournalMerger, type JournalOutcome } from './journal-lines.ts';

/** Size in bytes at which a journal is archived and a new one is started. */
const MAX_JOURNAL_BYTES = 4 * 1024 * 1024;

/** Matches the name of an archive, such as `journal-2026-05-01T12-00-00-000Z-1f3a9c20.jsonl`. */
const ARCHIVE_NAME = /^journal-[\dTZ-]+-[\da-f]{8}\.jsonl$/u;

/** Number of archived journals to keep. */
const MAX_ARCHIVES = 16;

/**
 * Number of consecutive older creations after which a search ends. A single older one proves
 * nothing, because clocks are set back, and processes write concurrently.
 */
const MAX_CONSECUTIVE_OLDER = 1000;

/** Number of written bytes after which a process checks if its journal was archived. */
const ARCHIVE_CHECK_BYTES = 1024 * 1024;

/** The facts about a creation before it is sent. */
export type JournalStart = Pick<JournalEntry, 'promptVersionId' | 'inputsDigest'> & {
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  /** Milliseconds by which the service's clock is ahead of this machine's; undefined if unknown. */
  readonly clockOffsetMs?: number | undefined;
};

/**
 * The runs started on this machine: a line before each creation is sent, and one for each later
 * fact.
 */
export class Journal {
  readonly file: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #isReadOnly: boolean;
  readonly #lines: AppendLog;

  /** @param options `isReadOnly`: true for a replay, which starts nothing; default false */
  constructor(stateDir: string, clock: Pick<Clock, 'now'>, { isReadOnly = false } = {}) {
    this.file = path.join(stateDir, 'journal.jsonl');
    this.#clock = clock;
    this.#isReadOnly = isReadOnly;
    this.#lines = new AppendLog(() => openJournalFile(this.file), {
      reopenAfterBytes: ARCHIVE_CHECK_BYTES,
    });
  }

  /** Returns a new creation that is not written yet. */
  createEntry({
    service,
    promptVersionId,
    inputsDigest,
    clockOffsetMs,
  }: JournalStart): JournalEntry {
    return {
      id: randomUUID(),
      time: this.#getTime(),
      baseUrl: service,
      promptVersionId,
      inputsDigest,
      ...(clockOffsetMs !== undefined && { clockOffsetMs }),
      pid: process.pid,
    };
  }

  /**
   * Writes a creation; resolves once it is on disk, so that a power cut can't hide a request.
   *
   * @param options `again`: true if it was written before and is about to be sent again
   */
  async begin(entry: JournalEntry, { again = false } = {}): Promise<void> {
    if (!again) return this.#append(entry);

    // Without the outcome of the earlier attempt: this one's is unknown again.
    const resentEntry = this.createEntry({ ...entry, service: entry.baseUrl });
    await this.#append({ ...resentEntry, id: entry.id, time: entry.time, again });
  }

  /** Adds the outcome of a creation. */
  async recordOutcome(id: string, outcome: JournalOutcome, options?: LineOptions): Promise<void> {
    await this.#append({ id, noted: this.#getTime(), ...outcome }, options);
  }

  /**
   * Yields creations from newest to oldest. Ends after many older ones in a row, which it yields
   * too.
   *
   * @param isOlder returns true for a creation before the requested time; by default all are read
   */
  async *readNewestFirst(
    isOlder: (entry: JournalEntry) => boolean = () => false,
  ): AsyncGenerator<JournalEntry> {
    let consecutiveOlder = 0;
    for await (const entry of this.#readEntries(new JournalMerger())) {
      consecutiveOlder = isOlder(entry) ? consecutiveOlder + 1 : 0;
      if (consecutiveOlder === MAX_CONSECUTIVE_OLDER) return;
      yield entry;
    }
  }

  /** Reads all entries, newest first, and the number of unreadable lines; a crash may leave one. */
  async read(): Promise<{ entries: readonly JournalEntry[]; damagedCount: number }> {
    const merger = new JournalMerger();
    const entries: JournalEntry[] = [];
    for await (const entry of this.#readEntries(merger)) entries.push(entry);
    return { entries, damagedCount: merger.damagedCount };
  }

  /** Returns the latest creation that made a run of this service, or may have. */
  async findLast(service: string): Promise<JournalEntry | undefined> {
    const madeNoRun = ({ outcome }: JournalEntry) => outcome === 'refused' || outcome === 'none';
    return this.#findNewest(entry => entry.baseUrl === service && !madeNoRun(entry));
  }

  /** Returns the creation of a run of this service; undefined if another machine made it. */
  async find(service: string, runId: string): Promise<JournalEntry | undefined> {
    if ((await this.findMentioned(new Set([runId]))).size === 0) return undefined;
    return this.#findNewest(entry => entry.baseUrl === service && entry.runId === runId);
  }

  /**
   * Returns which of these runs the journal mentions. Searches the text, which is much faster than
   * parsing lines.
   */
  async findMentioned(runIds: ReadonlySet<string>): Promise<Set<string>> {
    const mentionedIds = new Set<string>();
    if (runIds.size === 0) return mentionedIds;

    await this.#lines.waitForPendingLines();
    for (const file of await this.#listFiles()) {
      const text = await readFile(file, 'utf8').catch(() => '');
      for (const runId of runIds) {
        if (text.includes(`"runId":${JSON.stringify(runId)}`)) mentionedIds.add(runId);
      }
    }

    return mentionedIds;
  }

  /** Closes the file; the next use opens it again. */
  close(): Promise<void> {
    return this.#lines.close();
  }

  #getTime(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  async #append(line: object, options?: LineOptions): Promise<void> {
    if (!this.#isReadOnly) await this.#lines.append(line, options);
  }

  async #findNewest(matches: (entry: JournalEntry) => boolean): Promise<JournalEntry | undefined> {
    for await (const entry of this.readNewestFirst()) {
      if (matches(entry)) return entry;
    }
    return undefined;
  }

  async *#readEntries(merger: JournalMerger): AsyncGenerator<JournalEntry> {
    await this.#lines.waitForPendingLines();
    for (const file of await this.#listFiles()) {
      const handle = await ignoreMissing(open(file));
      if (handle === undefined) continue;

      try {
        for await (const lines of readLinesBackwards(handle)) {
          for (const line of lines) {
            const entry = merger.add(line);
            if (entry !== undefined) yield entry;
          }
        }
      } finally {
        await handle.close();
      }
    }
  }

  /** Returns the journal and the archived ones, newest first. */
  async #listFiles(): Promise<string[]> {
    return [this.file, ...(await listArchivedFiles(this.file))];
  }
}

async function openJournalFile(file: string): Promise<FileHandle> {
  const handle = await openForAppend(toContainedPath(file));
  const { size } = await handle.stat();
  if (size < MAX_JOURNAL_BYTES) return handle;

  await handle.close();
  await archiveJournal(file);
  return openForAppend(toContainedPath(file));
}

/**
 * Archives a journal under a unique name, so that two processes can't replace each other's archive.
 */
async function archiveJournal(file: string): Promise<void> {
  const stamp = new Date().toISOString().replaceAll(/[:.]/gu, '-');
  const archive = path.join(
    path.dirname(file),
    `journal-${stamp}-${randomUUID().slice(0, 8)}.jsonl`,
  );
  await renameOver(file, archive).catch((error: unknown) => {
    if (getErrorCode(error) !== 'ENOENT') throw error;
  });

  for (const oldArchive of (await listArchivedFiles(file)).slice(MAX_ARCHIVES)) {
    await rm(oldArchive, { force: true });
  }
}

async function listArchivedFiles(file: string): Promise<string[]> {
  const directory = path.dirname(file);
  const names = await readdir(directory).catch(() => []);
  return names
    .filter(name => ARCHIVE_NAME.test(name))
    .sort()
    .reverse()
    .map(name => path.join(directory, name));
}
