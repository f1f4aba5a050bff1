import { randomUUID } from 'node:crypto';
import { type FileHandle, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppendLog, openForAppend } from '../../../files/append-log.ts';
import { codeOf } from '../../../files/error-utils.ts';
import type { Clock } from '../../core/types.ts';
import { type JournalEntry, JournalFold, type JournalOutcome } from './journal-lines.ts';
import { filesAside, mentionedIn, readBackwards, readUnsettled } from './read-journal.ts';

/** A journal larger than this is put aside, and a new one begun. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How many that were put aside are kept. */
const MOST_FILES = 16;
/** A process that writes a lot looks after so many bytes whether its journal has been put aside. */
const LOOK_AFTER_BYTES = 1024 * 1024;

/** What is known of a creation before it is sent. */
export interface JournalStart {
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly promptVersionId: string;
  /** SHA-256 of the inputs; the inputs themselves are never written. */
  readonly inputsDigest: string;
  /** How far the service's clock is ahead of this machine's, in milliseconds; undefined where not known. */
  readonly clockOffsetMs?: number | undefined;
}

export interface JournalContents {
  /** Newest first. */
  readonly entries: readonly JournalEntry[];
  /** Lines that could not be read, as a crash may leave one. */
  readonly damaged: number;
}

/** The runs started on this machine: one line before each creation is sent, one when something more is known. */
export interface Journal {
  readonly file: string;
  /** A new creation, not yet written down. */
  entry(start: JournalStart): JournalEntry;
  /**
   * Resolves once the creation is on disk, so that a power cut can't hide what is sent next.
   *
   * @param again whether it was written before, and is about to be sent once more
   */
  begin(entry: JournalEntry, again?: boolean): Promise<void>;
  /** Adds what became of a creation. */
  outcome(id: string, outcome: JournalOutcome): Promise<void>;
  /** Reads from the end, as far as it is asked for. */
  newestFirst(): AsyncGenerator<JournalEntry>;
  read(): Promise<JournalContents>;
  /** The latest creation that made a run of this service, or may have. */
  last(service: string): Promise<JournalEntry | undefined>;
  /** The creation that made a run of this service; undefined if it was made elsewhere. */
  find(service: string, runId: string): Promise<JournalEntry | undefined>;
  /** Which of these runs it speaks of; quick, however long it is. */
  mentioned(runIds: ReadonlySet<string>): Promise<Set<string>>;
  /**
   * Creations that may have made a run whose id is not known, newest first.
   *
   * @param isOlder whether a creation is from before the time that is asked for
   */
  unsettled(isOlder: (entry: JournalEntry) => boolean): Promise<JournalEntry[]>;
  /** Closes the file; it may be used again. */
  close(): Promise<void>;
}

export function openJournal(stateDir: string, clock: Pick<Clock, 'now'>): Journal {
  const file = path.join(stateDir, 'journal.jsonl');
  const lines = new AppendLog(() => openJournalFile(file), { reopenAfter: LOOK_AFTER_BYTES });
  const now = (): string => new Date(clock.now()).toISOString();
  const newestFirst = async function* (fold = new JournalFold()): AsyncGenerator<JournalEntry> {
    await lines.flush();
    yield* readBackwards(file, fold);
  };
  return {
    file,
    newestFirst: () => newestFirst(),
    entry: start => newEntry(start, now()),
    begin: (entry, again = false) => lines.append(again ? { ...startOf(entry), again } : entry),
    outcome: (id, outcome) => lines.append({ id, noted: now(), ...outcome }),
    async read() {
      const fold = new JournalFold();
      const entries: JournalEntry[] = [];
      for await (const entry of newestFirst(fold)) entries.push(entry);
      return { entries, damaged: fold.damaged };
    },
    async last(service) {
      for await (const entry of newestFirst()) {
        if (entry.baseUrl === service && !madeNoRun(entry)) return entry;
      }
      return undefined;
    },
    async find(service, runId) {
      await lines.flush();
      if ((await mentionedIn(file, new Set([runId]))).size === 0) return undefined;
      for await (const entry of newestFirst()) {
        if (entry.baseUrl === service && entry.runId === runId) return entry;
      }
      return undefined;
    },
    async mentioned(runIds) {
      await lines.flush();
      return mentionedIn(file, runIds);
    },
    async unsettled(isOlder) {
      await lines.flush();
      return readUnsettled(file, isOlder);
    },
    close: () => lines.close(),
  };
}

/** A journal that can be read and is not written: a replay starts nothing. */
export function unwrittenJournal(stateDir: string, clock: Pick<Clock, 'now'>): Journal {
  return {
    ...openJournal(stateDir, clock),
    begin: () => Promise.resolve(),
    outcome: () => Promise.resolve(),
  };
}

function madeNoRun({ outcome }: JournalEntry): boolean {
  return outcome === 'refused' || outcome === 'none';
}

function newEntry(
  { service, promptVersionId, inputsDigest, clockOffsetMs }: JournalStart,
  time: string,
): JournalEntry {
  return {
    id: randomUUID(),
    time,
    baseUrl: service,
    promptVersionId,
    inputsDigest,
    ...(clockOffsetMs !== undefined && { clockOffsetMs }),
    pid: process.pid,
  };
}

/** A creation without what came of it. */
function startOf(entry: JournalEntry): object {
  const { id, time, baseUrl, promptVersionId, inputsDigest, clockOffsetMs } = entry;
  const offset = clockOffsetMs === undefined ? {} : { clockOffsetMs };
  return { id, time, baseUrl, promptVersionId, inputsDigest, ...offset, pid: process.pid };
}

async function openJournalFile(file: string): Promise<FileHandle> {
  const handle = await openForAppend(file);
  const { size } = await handle.stat();
  if (size < MOST_BYTES) return handle;
  await handle.close();
  await putAside(file);
  return openForAppend(file);
}

/** Each has a name of its own: where two processes do this at once, neither replaces what the other put aside. */
async function putAside(file: string): Promise<void> {
  const stamp = new Date().toISOString().replaceAll(/[:.]/gu, '-');
  const aside = path.join(path.dirname(file), `journal-${stamp}-${randomUUID().slice(0, 8)}.jsonl`);
  await rename(file, aside).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  for (const old of (await filesAside(file)).slice(MOST_FILES)) await rm(old, { force: true });
}
