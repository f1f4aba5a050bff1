import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../files/error-utils.ts';
import { parseJson } from '../../files/json.ts';
import { type FileBelow, openBelow } from '../../files/write-below.ts';
import { isObject, type JsonObject } from '../core/json-value.ts';
import { usageError } from '../errors.ts';
import { textLines } from '../inputs/rows/text-lines.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';

/** How far a job is, as its last line in the journal says. */
export interface JobState {
  readonly row: number;
  readonly step: 'creating' | 'waiting' | 'running' | 'succeeded' | 'failed';
  /** Its latest creation, with the digest of its inputs; undefined where nothing was ever sent. */
  readonly entry: JournalEntry | undefined;
  readonly runId: string | undefined;
  /** Every run that was made for it, those before it was run again too. */
  readonly runIds: readonly string[];
  readonly recovered: boolean;
  /** Why it failed. */
  readonly error: string | undefined;
  /** It failed with a fault of the service, which may have made a run all the same. */
  readonly mayHaveRun: boolean;
  /** The result, where the results themselves can't be read back. */
  readonly result: unknown;
}

/** A creation that a job needs besides its own, such as a judge's. */
export interface ExtraCreation {
  /** The id of the job; undefined if an earlier version wrote it. */
  readonly job: string | undefined;
  readonly entry: JournalEntry | undefined;
  /** undefined if it is not known. */
  readonly runId: string | undefined;
}

/** What the journal of a batch holds. */
export interface ReadJournal {
  readonly states: Map<string, JobState>;
  readonly marks: Map<string, string>;
  /** Creations that a job needs besides its own, by their ids in the machine's journal. */
  readonly extras: Map<string, ExtraCreation>;
  /** The line that says what all jobs have in common; undefined if the journal is new. */
  readonly facts: JsonObject | undefined;
}

/**
 * Reads a journal. A torn last line, or a tail of NULs, is left out; whoever opens the file for writing cuts it off.
 *
 * @throws {CliError} USAGE_ERROR for another file
 * @throws {LinkFault}
 */
export async function readJournal(place: FileBelow): Promise<ReadJournal> {
  const file = path.join(place.folder, place.name);
  const [states, marks] = [new Map<string, JobState>(), new Map<string, string>()];
  const extras = new Map<string, ExtraCreation>();
  let facts: JsonObject | undefined;
  const handle = await openIfThere(place);
  if (handle === undefined) return { states, marks, extras, facts };
  const text = handle.createReadStream({ encoding: 'utf8' });
  let torn: { readonly text: string; readonly line: number } | undefined;
  for await (const { text: source, line } of textLines(text as AsyncIterable<string>)) {
    if (torn !== undefined) refuse(file, torn.line);
    const value = parseJson(source);
    if (!isObject(value)) torn = { text: source, line };
    else if (value['batch'] === 1) facts = value;
    else if (facts === undefined) refuse(file, line);
    else takeLine({ states, marks, extras }, value, String(facts['service']));
  }
  if (torn?.line === 1 && !isBeginning(torn.text)) refuse(file, torn.line);
  return { states, marks, extras, facts };
}

async function openIfThere(place: FileBelow): Promise<FileHandle | undefined> {
  try {
    return await openBelow(place, constants.O_RDONLY);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a torn first line can be a journal's. */
function isBeginning(text: string): boolean {
  return BEGINNING.startsWith(text.slice(0, BEGINNING.length).replace(/\0{1,11}$/u, ''));
}

const BEGINNING = '{"batch":1,';

function refuse(file: string, line: number): never {
  throw usageError(
    `${file}:${line}: this is not the journal of a batch`,
    'move the file away, or name another with --out',
  );
}

const STEPS = ['creating', 'waiting', 'running', 'succeeded', 'failed'] as const;

function takeLine(
  { states, marks, extras }: Omit<ReadJournal, 'facts'>,
  value: JsonObject,
  service: string,
): void {
  const { row, id, journalId, state, runId, error, recovered, mayHaveRun, result, mark } = value;
  const step = STEPS.find(known => known === state);
  if (typeof id !== 'string') {
    if (typeof journalId === 'string') takeExtra(extras, journalId, value, service);
    return;
  }
  if (typeof mark === 'string') marks.set(id, mark);
  if (step === undefined) return;
  const before = states.get(id);
  const runIds = before?.runIds ?? [];
  states.set(id, {
    row: Number(row),
    step,
    entry: step === 'creating' ? entryIn(value, service) : before?.entry,
    runId: textOf(runId) ?? (step === 'creating' || step === 'waiting' ? undefined : before?.runId),
    runIds: typeof runId !== 'string' || runIds.includes(runId) ? runIds : [...runIds, runId],
    recovered: recovered === true || (before?.recovered === true && step !== 'creating'),
    error: textOf(error),
    mayHaveRun: mayHaveRun === true,
    result,
  });
}

/** The first line of a creation says whose it is, the last which run it made; null if it made none. */
function takeExtra(
  extras: ReadJournal['extras'],
  journalId: string,
  value: JsonObject,
  service: string,
): void {
  const { runId } = value;
  const before = extras.get(journalId);
  if (runId === undefined) {
    extras.set(journalId, { job: textOf(value['job']), entry: entryIn(value, service), runId: undefined });
  } else if (typeof runId === 'string') {
    extras.set(journalId, { job: before?.job, entry: before?.entry, runId });
  } else extras.delete(journalId);
}

function entryIn(value: JsonObject, service: string): JournalEntry | undefined {
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
