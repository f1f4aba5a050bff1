import { parseJson } from '../../../files/formats/json.ts';
import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';

/**
 * The outcome of a creation. `refused` (by the service's answer) and `none` (by its list) made no
 * run; `lost`, `interrupted` and `failed` (an error answer of the service) may have made one.
 */
const CREATION_OUTCOMES = [
  'created',
  'refused',
  'none',
  'lost',
  'interrupted',
  'failed',
  'ended',
] as const;

type CreationOutcome = (typeof CREATION_OUTCOMES)[number];

export interface JournalOutcome {
  readonly outcome: CreationOutcome;
  readonly runId?: string;
  readonly runStatus?: string;
  /** True if the run was found in the list, because the answer was lost. */
  readonly recovered?: true;
  /** Milliseconds by which the service's clock is ahead of this machine's, if known. */
  readonly clockOffsetMs?: number;
}

/** A creation with everything in the journal about it. */
export interface JournalEntry extends Partial<JournalOutcome> {
  /** The journal id, also sent as `Idempotency-Key`. */
  readonly id: string;
  /** The local time before the request was first sent, ISO 8601. */
  readonly time: string;
  /** The base URL, or `local` for the embedded service. */
  readonly baseUrl: string;
  readonly promptVersionId: string;
  /** SHA-256 of the inputs; the inputs themselves are never written. */
  readonly inputsDigest: string;
  /** The process that sent it. */
  readonly pid?: number;
  /** The time at which the outcome was written, ISO 8601. */
  readonly noted?: string;
}

type CreationFacts = Pick<JournalEntry, 'runId' | 'outcome'>;

/** Returns true if a creation may have made a run whose id never arrived. */
export function mayHaveMadeRun({ runId, outcome }: CreationFacts): boolean {
  return runId === undefined && outcome !== 'refused' && outcome !== 'none';
}

/**
 * Returns true if the outcome of a creation is unknown; one that the service answered with an error
 * has failed.
 */
export function isInDoubt(entry: CreationFacts): boolean {
  return mayHaveMadeRun(entry) && entry.outcome !== 'failed';
}

/** Merges the lines of each creation, which arrive from newest to oldest. */
export class JournalMerger {
  readonly #outcomes = new Map<string, Partial<JournalEntry>>();
  /** Creations that were sent more than once and so have several first lines. */
  readonly #resentIds = new Set<string>();
  /** The number of unreadable lines. */
  damagedCount = 0;

  /** Adds the next older line; returns the whole creation if this is its first line. */
  add(text: string): JournalEntry | undefined {
    if (text.trim() === '') return undefined;
    const line = parseLine(text);
    if (line === undefined) {
      this.damagedCount += 1;
    } else if (isStart(line)) {
      return this.#completeEntry(line);
    } else {
      this.#outcomes.set(line.id, { ...readOutcome(line), ...this.#outcomes.get(line.id) });
    }

    return undefined;
  }

  #completeEntry({ again, ...start }: JournalLine & JournalEntry): JournalEntry | undefined {
    if (this.#resentIds.has(start.id)) return undefined;
    if (again === true) this.#resentIds.add(start.id);
    const outcome = this.#outcomes.get(start.id);
    this.#outcomes.delete(start.id);
    return { ...start, ...outcome };
  }
}

type JournalLine = UncheckedObject & { readonly id: string };

function parseLine(text: string): JournalLine | undefined {
  const line = parseJson(text);
  return isJsonObject(line) && typeof line['id'] === 'string' ? (line as JournalLine) : undefined;
}

function isStart(line: JournalLine): line is JournalLine & JournalEntry {
  return ['time', 'baseUrl', 'promptVersionId'].every(key => typeof line[key] === 'string');
}

function readOutcome({
  outcome,
  recovered,
  clockOffsetMs,
  ...line
}: JournalLine): Partial<JournalEntry> {
  const texts = ['runId', 'runStatus', 'noted'].filter(key => typeof line[key] === 'string');
  return {
    ...(CREATION_OUTCOMES.some(name => name === outcome) && {
      outcome: outcome as CreationOutcome,
    }),
    ...Object.fromEntries(texts.map(key => [key, line[key]])),
    ...(recovered === true && { recovered }),
    ...(typeof clockOffsetMs === 'number' && { clockOffsetMs }),
  };
}
