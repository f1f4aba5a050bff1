import { open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { linesBackwards } from '../../../files/append-log.ts';
import { codeOf } from '../../../files/error-utils.ts';
import { type JournalEntry, JournalFold, mayHaveMadeRun } from './journal-lines.ts';

/** The creations of a journal and of those put aside before it, newest first. */
export async function* readBackwards(file: string, fold: JournalFold): AsyncGenerator<JournalEntry> {
  yield* entriesOf(file, fold);
  for (const aside of await filesAside(file)) yield* entriesOf(aside, fold);
}

async function* entriesOf(file: string, fold: JournalFold): AsyncGenerator<JournalEntry> {
  const handle = await open(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return;
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

const RUN_ID = '"runId":"';

/** Looks for ids in the text alone, which is much quicker than to read the lines. */
export async function mentionedIn(file: string, runIds: ReadonlySet<string>): Promise<Set<string>> {
  const found = new Set<string>();
  if (runIds.size === 0) return found;
  for (const one of [file, ...(await filesAside(file))]) {
    const text = await readFile(one, 'latin1').catch(() => '');
    for (let at = text.indexOf(RUN_ID); at !== -1; at = text.indexOf(RUN_ID, at)) {
      at += RUN_ID.length;
      const runId = text.slice(at, text.indexOf('"', at));
      if (runIds.has(runId)) found.add(runId);
    }
  }
  return found;
}

const ID = '{"id":"';
const ID_LENGTH = 36;
const SETTLED = [RUN_ID, '"outcome":"refused"', '"outcome":"none"'];

/** Reads only the lines of creations that no line settles, from the end to the first piece that is older. */
export async function readUnsettled(
  file: string,
  isOlder: (entry: JournalEntry) => boolean,
): Promise<JournalEntry[]> {
  const settled = new Set<string>();
  const fold = new JournalFold();
  const entries: JournalEntry[] = [];
  for (const one of [file, ...(await filesAside(file))]) {
    const handle = await open(one).catch(() => undefined);
    if (handle === undefined) continue;
    try {
      for await (const lines of linesBackwards(handle)) {
        entries.push(...lines.flatMap(line => unsettledIn(line, settled, fold) ?? []));
        const oldest = lines.findLast(isStartLine);
        const entry = oldest === undefined ? undefined : new JournalFold().take(oldest);
        if (entry !== undefined && isOlder(entry)) return entries;
      }
    } finally {
      await handle.close();
    }
  }
  return entries;
}

function isStartLine(line: string): boolean {
  return line.includes('"baseUrl":');
}

function unsettledIn(line: string, settled: Set<string>, fold: JournalFold): JournalEntry | undefined {
  const id = line.startsWith(ID) ? line.slice(ID.length, ID.length + ID_LENGTH) : '';
  if (id !== '' && !isStartLine(line) && SETTLED.some(mark => line.includes(mark))) {
    settled.add(id);
    return undefined;
  }
  if (settled.has(id)) return undefined;
  const entry = fold.take(line);
  return entry !== undefined && mayHaveMadeRun(entry) ? entry : undefined;
}

/** The journals that were put aside, newest first. */
export async function filesAside(file: string): Promise<string[]> {
  const directory = path.dirname(file);
  const names = await readdir(directory).catch(() => []);
  return names
    .filter(name => /^journal-[\dTZ-]+-[\da-f]{8}\.jsonl$/u.test(name))
    .sort()
    .reverse()
    .map(name => path.join(directory, name));
}
