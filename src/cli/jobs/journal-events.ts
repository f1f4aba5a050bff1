import { parseJson } from '../../files/formats/json.ts';
import { isJsonObject, readTextAt, type UncheckedObject } from '../../utils/bounded-json.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import type { JobName } from './job.ts';

const JOB_STEPS = ['creating', 'waiting', 'running', 'succeeded', 'failed'] as const;

export type JobStep = (typeof JOB_STEPS)[number];

/**
 * The beginning of the id that a row of a handover gets once its job is forgotten, because the row
 * runs anew. Its number follows. The row stays, so that the others keep their places.
 */
export const FORGOTTEN_ID_PREFIX = 'forgotten ';

/**
 * The version of the journal's form, in the field `batch` of the first line, also of a test's
 * journal. In other lines, `batch` is the id of a provider's batch.
 */
const JOURNAL_VERSION = 1;

/**
 * Matches the id of an old handover, such as `provider-batch:6f1d…` or `provider-batch:6f1d…/rows`.
 */
const OLD_HANDOVER_ID = /^provider-batch:(?<key>.+?)(?:\/rows)?$/u;

/** Rows are handed over to a provider as one of its batches. */
export interface HandoverEvent {
  readonly kind: 'handover';
  /** The time of the handover as ISO 8601; undefined if an earlier version made it. */
  readonly time?: string | undefined;
  /** The name of the batch, and the prefix of its requests' names. */
  readonly key: string;
  readonly promptVersionId: string;
  /** The provider interface of the requests; undefined if an earlier version made them. */
  readonly providerInterface?: string | undefined;
  readonly rows: readonly (readonly [id: string, inputsDigest: string])[];
}

/** The provider has accepted part of a handover: first the file of its requests, then the batch. */
export interface HandoverProgressEvent {
  readonly kind: 'handover progress';
  readonly key: string;
  readonly fileId?: string | undefined;
  readonly batchId?: string | undefined;
}

/** A job has reached a step; a line has it as its `state`. */
export interface StepEvent {
  readonly kind: 'step';
  readonly job: JobName;
  readonly step: JobStep;
  /** The creation, if that is the step. */
  readonly entry?: JournalEntry | undefined;
  readonly runId?: string | null | undefined;
  readonly recovered?: boolean;
  /** The message of a fault; null, only when it is written, if there was none. */
  readonly error?: string | null | undefined;
  readonly mayHaveRun?: boolean | undefined;
  readonly result?: unknown;
}

/** A creation that a job needs in addition to its own, such as a judge's, is about to be sent. */
interface ExtraCreationEvent {
  readonly kind: 'extra creation';
  readonly journalId: string;
  /** The id of the job; undefined if an earlier version wrote it, like the entry. */
  readonly job: string | undefined;
  readonly entry: JournalEntry | undefined;
  /** A digest of how a configuration declares the model; undefined if none does. */
  readonly declarationDigest?: string | undefined;
}

/** One line of the journal of a batch or a test. */
export type JobEvent =
  | { readonly kind: 'begun'; readonly facts: UncheckedObject }
  | StepEvent
  /** The runs that a creation in doubt may have made. */
  | { readonly kind: 'candidates'; readonly job: JobName; readonly runIds: readonly string[] }
  | ExtraCreationEvent
  /** The run that an extra creation made; null if it made none. */
  | { readonly kind: 'extra end'; readonly journalId: string; readonly runId: string | null }
  | HandoverEvent
  | HandoverProgressEvent;

export function toJournalLine(event: JobEvent): UncheckedObject {
  switch (event.kind) {
    case 'begun':
      return { batch: JOURNAL_VERSION, ...event.facts };
    case 'step':
      return toStepLine(event);
    case 'candidates':
      return { row: event.job.row, id: event.job.id, candidates: event.runIds };
    case 'extra creation': {
      const { job, journalId, entry, declarationDigest } = event;
      return { job, journalId, ...(entry && toCreationFields(entry)), declared: declarationDigest };
    }
    case 'extra end':
      return { journalId: event.journalId, runId: event.runId };
    case 'handover': {
      const { key, time, promptVersionId, providerInterface, rows } = event;
      return { providerBatch: key, time, promptVersionId, interface: providerInterface, rows };
    }
    case 'handover progress':
      break;
  }
  return { providerBatch: event.key, file: event.fileId, batch: event.batchId };
}

function toStepLine(event: StepEvent): UncheckedObject {
  const { job, step, entry, runId, error, result, recovered, mayHaveRun } = event;
  return {
    row: job.row,
    id: job.id,
    state: step,
    ...(entry && toCreationFields(entry)),
    runId,
    error,
    result,
    ...(recovered && { recovered }),
    ...(mayHaveRun && { mayHaveRun }),
  };
}

function toCreationFields(entry: JournalEntry): UncheckedObject {
  const { id: journalId, inputsDigest: digest, promptVersionId, time, clockOffsetMs } = entry;
  return {
    digest,
    journalId,
    promptVersionId,
    time,
    ...(clockOffsetMs !== undefined && { clockOffsetMs }),
  };
}

/** A line that can't be read but must not be skipped, because its rows would be paid for twice. */
export interface DamagedLine {
  readonly kind: 'damaged';
  readonly record: 'handover' | 'creation';
}

const DAMAGED_HANDOVER: DamagedLine = { kind: 'damaged', record: 'handover' };
const DAMAGED_CREATION: DamagedLine = { kind: 'damaged', record: 'creation' };

/**
 * Parses a line of the journal. Returns undefined if this version doesn't know the line.
 *
 * @param service the base URL of the batch, which its creations don't repeat
 */
export function parseJournalLine(
  line: UncheckedObject,
  service: string,
): JobEvent | DamagedLine | undefined {
  if (line['batch'] === JOURNAL_VERSION) return { kind: 'begun', facts: line };
  if (typeof line['providerBatch'] === 'string') return parseHandover(line['providerBatch'], line);

  const { id, journalId, mark, candidates } = line;
  if (typeof id !== 'string') {
    return typeof journalId === 'string' ? parseExtra(journalId, line, service) : undefined;
  }

  const job = { id, row: Number(line['row']) };
  const step = JOB_STEPS.find(name => name === line['state']);
  if (step !== undefined) return parseStep(step, job, line, service);
  if (typeof mark === 'string') return parseMark(id, mark);

  return Array.isArray(candidates)
    ? { kind: 'candidates', job, runIds: candidates.map(String) }
    : undefined;
}

function parseStep(
  step: JobStep,
  job: JobName,
  line: UncheckedObject,
  service: string,
): StepEvent | DamagedLine {
  const entry = step === 'creating' ? parseEntry(line, service) : undefined;
  if (step === 'creating' && entry === undefined) return DAMAGED_CREATION;
  return {
    kind: 'step',
    job,
    step,
    entry,
    runId: readTextAt(line, 'runId'),
    recovered: line['recovered'] === true,
    error: readTextAt(line, 'error'),
    mayHaveRun: line['mayHaveRun'] === true,
    result: line['result'],
  };
}

function parseExtra(
  journalId: string,
  line: UncheckedObject,
  service: string,
): JobEvent | DamagedLine {
  if (line['runId'] !== undefined) {
    return { kind: 'extra end', journalId, runId: readTextAt(line, 'runId') ?? null };
  }

  const entry = parseEntry(line, service);
  // A line of an earlier version has no time, and no entry either.
  if (entry === undefined && line['time'] !== undefined) return DAMAGED_CREATION;
  return {
    kind: 'extra creation',
    journalId,
    job: readTextAt(line, 'job'),
    entry,
    declarationDigest: readTextAt(line, 'declared'),
  };
}

/** Reads the creation in a line. Returns undefined if one of its facts is missing. */
function parseEntry(line: UncheckedObject, service: string): JournalEntry | undefined {
  const { journalId, time, promptVersionId, digest, clockOffsetMs } = line;
  if (typeof journalId !== 'string' || typeof time !== 'string' || Number.isNaN(Date.parse(time))) {
    return undefined;
  }

  if (typeof promptVersionId !== 'string' || typeof digest !== 'string') return undefined;
  return {
    id: journalId,
    time,
    baseUrl: service,
    promptVersionId,
    inputsDigest: digest,
    ...(typeof clockOffsetMs === 'number' && { clockOffsetMs }),
  };
}

type HandoverLine = HandoverEvent | HandoverProgressEvent | DamagedLine;

function parseHandover(key: string, line: UncheckedObject): HandoverLine {
  const { promptVersionId, rows } = line;
  if (rows === undefined) {
    return {
      kind: 'handover progress',
      key,
      fileId: readTextAt(line, 'file'),
      batchId: readTextAt(line, 'batch'),
    };
  }

  // If a row were skipped, later rows would get each other's answers.
  if (typeof promptVersionId !== 'string' || !Array.isArray(rows) || !rows.every(isHandoverRow)) {
    return DAMAGED_HANDOVER;
  }

  return {
    kind: 'handover',
    key,
    time: readTextAt(line, 'time'),
    promptVersionId,
    providerInterface: readTextAt(line, 'interface'),
    rows,
  };
}

function isHandoverRow(row: unknown): row is [id: string, inputsDigest: string] {
  return Array.isArray(row) && typeof row[0] === 'string' && typeof row[1] === 'string';
}

/** Reads a mark of an earlier version, which wrote handovers as marks with JSON in them. */
function parseMark(id: string, mark: string): HandoverLine | undefined {
  const key = OLD_HANDOVER_ID.exec(id)?.groups?.['key'];
  if (key === undefined) return undefined;
  const line = parseJson(mark);
  return isJsonObject(line) ? parseHandover(key, line) : DAMAGED_HANDOVER;
}
