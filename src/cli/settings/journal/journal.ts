import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../core/error-utils.ts';
import { syncDirectory } from '../../core/sync-directory.ts';
import type { Clock } from '../../core/types.ts';
import { foldJournal, type JournalEntry, type JournalOutcome } from './journal-lines.ts';

/** What is known of a creation before it is sent. */
export interface JournalStart {
  /** The base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly promptVersionId: string;
  /** SHA-256 of the inputs; the inputs themselves are never written. */
  readonly inputsDigest: string;
}

export interface JournalContents {
  /** Oldest first. */
  readonly entries: readonly JournalEntry[];
  /** Lines that could not be read, as a crash may leave one. */
  readonly damaged: number;
}

/** The runs started on this machine: one line before each creation is sent, one when something more is known. */
export interface Journal {
  readonly file: string;
  /** Resolves once the line is on disk, so that a power cut can't hide what is sent next. */
  begin(start: JournalStart): Promise<JournalEntry>;
  /** Adds what became of a creation. */
  outcome(id: string, outcome: JournalOutcome): Promise<void>;
  read(): Promise<JournalContents>;
  /** Oldest first. */
  entries(): Promise<readonly JournalEntry[]>;
  /** The latest creation that made a run of this service, or may have. */
  last(service: string): Promise<JournalEntry | undefined>;
  /** The ids of the runs of this service that the journal knows. */
  runIds(service: string): Promise<Set<string>>;
}

export function openJournal(stateDir: string, clock: Pick<Clock, 'now'>): Journal {
  const file = path.join(stateDir, 'journal.jsonl');
  const read = async (): Promise<JournalContents> => foldJournal(await readText(file));
  const of = async (service: string): Promise<JournalEntry[]> =>
    (await read()).entries.filter(entry => entry.baseUrl === service);
  return {
    file,
    read,
    async begin({ service, promptVersionId, inputsDigest }) {
      const entry = {
        id: randomUUID(),
        time: new Date(clock.now()).toISOString(),
        baseUrl: service,
        promptVersionId,
        inputsDigest,
        pid: process.pid,
      };
      await appendLine(file, entry);
      return entry;
    },
    outcome: (id, outcome) =>
      appendLine(file, { id, noted: new Date(clock.now()).toISOString(), ...outcome }),
    entries: async () => (await read()).entries,
    last: async service => (await of(service)).findLast(entry => entry.outcome !== 'refused'),
    runIds: async service => new Set((await of(service)).flatMap(({ runId }) => runId ?? [])),
  };
}

/** Appends whole and on disk; a line that a crash tore is ended first, so that it spoils no other. */
async function appendLine(file: string, value: object): Promise<void> {
  const line = `${JSON.stringify(value)}\n`;
  const journal = await openForAppend(file);
  try {
    await journal.appendFile((await endsTorn(journal)) ? `\n${line}` : line);
    await journal.datasync();
  } finally {
    await journal.close();
  }
}

async function openForAppend(file: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
  try {
    return await open(file, flags, 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const created = await open(file, flags, 0o600);
    await syncDirectory(path.dirname(file));
    return created;
  }
}

async function endsTorn(journal: FileHandle): Promise<boolean> {
  const { size } = await journal.stat();
  if (size === 0) return false;
  const { buffer } = await journal.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
