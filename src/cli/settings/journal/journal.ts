import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppendLog, linesBackwards, openForAppend } from '../../../files/append-log.ts';
import { codeOf } from '../../../files/error-utils.ts';
import type { Clock } from '../../core/types.ts';
import { type JournalEntry, JournalFold, type JournalOutcome } from './journal-lines.ts';

/** A journal larger than this is put aside, and a new one begun. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How many that were put aside are kept. */
const MOST_FILES = 16;
/** Clocks are set back, and processes write at once: so many older creations in a row have nothing newer before them. */
const ENOUGH_OLDER = 1000;
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
  /**
   * Reads from the end, as far as it is asked for.
   *
   * @param isOlder whether a creation is from before the time that is asked for; by default all are read
   */
  newestFirst(isOlder?: (entry: JournalEntry) => boolean): AsyncGenerator<JournalEntry>;
  read(): Promise<JournalContents>;
  /** The latest creation that made a run of this service, or may have. */
  last(service: string): Promise<JournalEntry | undefined>;
  /** The creation that made a run of this service; undefined if it was made elsewhere. */
  find(service: string, runId: string): Promise<JournalEntry | undefined>;
  /** Which of these runs it speaks of; quick, however long it is. */
  mentioned(runIds: ReadonlySet<string>): Promise<Set<string>>;
  /** Closes the file; it may be used again. */
  close(): Promise<void>;
}

export function openJournal(stateDir: string, clock: Pick<Clock, 'now'>): Journal {
  const file = path.join(stateDir, 'journal.jsonl');
  const lines = new AppendLog(() => openJournalFile(file), { reopenAfter: LOOK_AFTER_BYTES });
  const now = (): string => new Date(clock.now()).toISOString();
  const newestFirst: Journal['newestFirst'] = async function* (isOlder = () => false) {
    await lines.flush();
    let older = 0;
    for await (const entry of readBackwards(file, new JournalFold())) {
      older = isOlder(entry) ? older + 1 : 0;
      if (older === ENOUGH_OLDER) return;
      yield entry;
    }
  };
  const mentioned: Journal['mentioned'] = async runIds => {
    await lines.flush();
    return mentionedIn(file, [...runIds]);
  };
  return {
    file,
    newestFirst,
    mentioned,
    entry: start => newEntry(start, now()),
    begin: (entry, again = false) => lines.append(again ? { ...startOf(entry), again } : entry),
    outcome: (id, outcome) => lines.append({ id, noted: now(), ...outcome }),
    async read() {
      await lines.flush();
      const fold = new JournalFold();
      const entries: JournalEntry[] = [];
      for await (const entry of readBackwards(file, fold)) entries.push(entry);
      return { entries, damaged: fold.damaged };
    },
    async last(service) {
      for await (const entry of newestFirst()) {
        if (entry.baseUrl === service && !madeNoRun(entry)) return entry;
      }
      return undefined;
    },
    async find(service, runId) {
      if ((await mentioned(new Set([runId]))).size === 0) return undefined;
      for await (const entry of newestFirst()) {
        if (entry.baseUrl === service && entry.runId === runId) return entry;
      }
      return undefined;
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

/** The creations of a journal and of those put aside before it, newest first. */
async function* readBackwards(file: string, fold: JournalFold): AsyncGenerator<JournalEntry> {
  for (const one of [file, ...(await filesAside(file))]) {
    const handle = await open(one).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (handle === undefined) continue;
    try {
      for await (const lines of linesBackwards(handle)) {
        for (const line of lines) {
          const entry = fold.take(line);
          if (entry !== undefined) yield entry;
        }
      }
    } finally {
      await handle.close();
    }
  }
}

/** Looks for ids in the text alone, which is much quicker than to read the lines. */
async function mentionedIn(file: string, runIds: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  if (runIds.length === 0) return found;
  for (const one of [file, ...(await filesAside(file))]) {
    const text = await readFile(one, 'utf8').catch(() => '');
    for (const runId of runIds) if (text.includes(`"runId":${JSON.stringify(runId)}`)) found.add(runId);
  }
  return found;
}

/** The journals that were put aside, newest first. */
async function filesAside(file: string): Promise<string[]> {
  const directory = path.dirname(file);
  const names = await readdir(directory).catch(() => []);
  return names
    .filter(name => /^journal-[\dTZ-]+-[\da-f]{8}\.jsonl$/u.test(name))
    .sort()
    .reverse()
    .map(name => path.join(directory, name));
}
