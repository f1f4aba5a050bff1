import path from 'node:path';
import { parseJson } from '../../files/formats/json.ts';
import { splitIntoLines } from '../../files/formats/text-lines.ts';
import { openForReading } from '../../files/writing/open-for-reading.ts';
import type { ContainedPath } from '../../files/writing/write-below.ts';
import { isJsonObject, type UncheckedObject } from '../../utils/bounded-json.ts';
import { usageError } from '../core/errors.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import {
  type DamagedLine,
  type HandoverEvent,
  type HandoverProgressEvent,
  type JobEvent,
  type JobStep,
  parseJournalLine,
  type StepEvent,
} from './journal-events.ts';

/** The beginning of a journal's first line. */
const JOURNAL_BEGINNING = '{"batch":1,';

/** The state of a job by its last line in the journal. */
export interface JobState {
  readonly row: number;
  readonly step: JobStep;
  /** The latest creation, with the digest of its inputs; undefined if none was ever sent. */
  readonly entry: JournalEntry | undefined;
  readonly runId: string | undefined;
  /** All its runs, including those before it was run again. */
  readonly runIds: readonly string[];
  readonly recovered: boolean;
  readonly error: string | undefined;
  /** True if it failed with a fault of the service, which may have created a run anyway. */
  readonly mayHaveRun: boolean;
  /** The result, if it can't be read back from a file of results. */
  readonly result: unknown;
}

/** A creation that a job needs in addition to its own, such as a judge's. */
export interface ExtraCreation {
  /** The id of the job; undefined if an earlier version wrote it. */
  readonly job: string | undefined;
  readonly entry: JournalEntry | undefined;
  /** A digest of how a configuration declares the model; undefined if none does. */
  readonly declarationDigest?: string | undefined;
  readonly runId: string | undefined;
}

/** Rows that were handed over to a provider, and the progress of that. */
export interface HandoverRecord {
  readonly handover: HandoverEvent;
  readonly progress: HandoverProgressEvent | undefined;
}

/** The content of a batch's journal. */
export interface JournalContent {
  readonly states: Map<string, JobState>;
  /** The handovers to a provider, by key. */
  readonly handovers: Map<string, HandoverRecord>;
  /** The jobs' extra creations, by their ids in the machine's journal. */
  readonly extras: Map<string, ExtraCreation>;
  /** The facts that all jobs share; undefined if the journal is new. */
  readonly facts: UncheckedObject | undefined;
  /** The ids of the jobs and extra creations from before the latest start that resumed nothing. */
  readonly earlierIds: ReadonlySet<string>;
}

type MutableContent = Omit<JournalContent, 'facts' | 'earlierIds'> & {
  readonly earlierIds: Set<string>;
};

/**
 * Reads a journal. Ignores a torn last line or a tail of NULs, which opening the file for writing
 * cuts off.
 *
 * @throws {CliError} USAGE_ERROR if the file is not a journal
 * @throws {LinkFault}
 */
export async function readJournal(file: ContainedPath): Promise<JournalContent> {
  const filePath = path.join(file.folder, file.name);
  const content: MutableContent = {
    states: new Map(),
    handovers: new Map(),
    extras: new Map(),
    earlierIds: new Set(),
  };

  let facts: UncheckedObject | undefined;
  const handle = await openForReading(file);
  if (handle === undefined) return { ...content, facts };

  const stream: AsyncIterable<string> = handle.createReadStream({ encoding: 'utf8' });
  let tornLine: { readonly text: string; readonly line: number } | undefined;
  for await (const { text: lineText, line } of splitIntoLines(stream)) {
    if (tornLine !== undefined) refuseJournal(filePath, tornLine.line);
    const value = parseJson(lineText);
    if (!isJsonObject(value)) {
      tornLine = { text: lineText, line };
      continue;
    }

    const event = parseJournalLine(value, String(facts?.['service']));
    if (event?.kind === 'damaged') refuseDamagedLine(event, filePath, line);
    if (event?.kind === 'begun') ({ facts } = event);
    if (facts === undefined) refuseJournal(filePath, line);
    if (event) applyEvent(content, event);
  }

  if (tornLine?.line === 1 && !mayBeginJournal(tornLine.text)) {
    refuseJournal(filePath, tornLine.line);
  }
  return { ...content, facts };
}

/** Returns true if a torn first line, which may end in NULs, can be a journal's. */
function mayBeginJournal(text: string): boolean {
  const start = text.slice(0, JOURNAL_BEGINNING.length).replace(/\0{1,11}$/u, '');
  return JOURNAL_BEGINNING.startsWith(start);
}

function refuseDamagedLine({ record }: DamagedLine, filePath: string, line: number): never {
  if (record === 'handover') {
    throw usageError(
      `${filePath}:${line}: the record of a batch at the provider can't be read`,
      'Look for the batch at the provider before you run its rows again, because they are paid for.',
    );
  }
  throw usageError(
    `${filePath}:${line}: the record of a creation can't be read`,
    'Look for its run with promptrun runs list before you run its row again, because it may be paid for.',
  );
}

function refuseJournal(filePath: string, line: number): never {
  throw usageError(
    `${filePath}:${line}: this is not the journal of a batch`,
    'Move the file away, or name another with --out.',
  );
}

function applyEvent(
  { states, handovers, extras, earlierIds }: MutableContent,
  event: JobEvent,
): void {
  switch (event.kind) {
    case 'begun':
      if (event.facts['resumes'] === true) break;
      for (const id of [...states.keys(), ...extras.keys()]) earlierIds.add(id);
      break;
    case 'step':
      if (event.step === 'creating') earlierIds.delete(event.job.id);
      states.set(event.job.id, applyStep(states.get(event.job.id), event));
      break;
    case 'handover':
      handovers.set(event.key, { handover: event, progress: handovers.get(event.key)?.progress });
      break;
    case 'handover progress': {
      const record = handovers.get(event.key);
      if (record) handovers.set(event.key, { ...record, progress: event });
      break;
    }
    case 'extra creation': {
      const { journalId, job, entry, declarationDigest } = event;
      extras.set(journalId, { job, entry, declarationDigest, runId: undefined });
      break;
    }
    case 'extra end': {
      const { journalId, runId } = event;
      const earlierExtra = extras.get(journalId);
      if (runId === null) {
        extras.delete(journalId);
      } else {
        extras.set(journalId, { job: undefined, entry: undefined, ...earlierExtra, runId });
      }

      break;
    }
    case 'candidates':
      break;
  }
}

function applyStep(
  stateBefore: JobState | undefined,
  { job, step, entry, runId, recovered, error, mayHaveRun, result }: StepEvent,
): JobState {
  const runIds = stateBefore?.runIds ?? [];
  const isNew = typeof runId === 'string' && !runIds.includes(runId);
  return {
    row: job.row,
    step,
    entry: step === 'creating' ? entry : stateBefore?.entry,
    runId: runId ?? (step === 'creating' || step === 'waiting' ? undefined : stateBefore?.runId),
    runIds: isNew ? [...runIds, runId] : runIds,
    recovered: recovered === true || (stateBefore?.recovered === true && step !== 'creating'),
    error: error ?? undefined,
    mayHaveRun: mayHaveRun === true,
    result,
  };
}
