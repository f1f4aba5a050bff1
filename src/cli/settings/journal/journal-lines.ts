import { parseJson } from '../../../files/json.ts';
import { isObject, type JsonObject } from '../../core/json-value.ts';

/**
 * What became of a creation: `refused` and `none` made no run, the one by the service's word, the other by its list;
 * `lost`, `interrupted` and `failed` (a fault the service answered with) may have made one.
 */
const CREATION_OUTCOMES = ['created', 'refused', 'none', 'lost', 'interrupted', 'failed', 'ended'] as const;
type CreationOutcome = (typeof CREATION_OUTCOMES)[number];

export interface JournalOutcome {
  readonly outcome: CreationOutcome;
  readonly runId?: string;
  readonly runStatus?: string;
  /** The run was taken from the list of runs, since the answer was lost. */
  readonly recovered?: true;
  /** How far the service's clock is ahead of this machine's, in milliseconds, as far as is known by now. */
  readonly clockOffsetMs?: number;
}

/** A creation with everything the journal says of it. */
export interface JournalEntry extends Partial<JournalOutcome> {
  /** Sent as `Idempotency-Key` as well. */
  readonly id: string;
  /** ISO 8601, by this machine's clock, from before the request was sent for the first time. */
  readonly time: string;
  /** Or `local` for the embedded service. */
  readonly baseUrl: string;
  readonly promptVersionId: string;
  /** SHA-256 of the inputs; the inputs themselves are never written. */
  readonly inputsDigest: string;
  /** The process that sent it. */
  readonly pid?: number;
  /** When the outcome was written, ISO 8601. */
  readonly noted?: string;
}

type CreationFacts = Pick<JournalEntry, 'runId' | 'outcome'>;

/** Whether a creation may have made a run whose id never arrived. */
export function mayHaveMadeRun({ runId, outcome }: CreationFacts): boolean {
  return runId === undefined && outcome !== 'refused' && outcome !== 'none';
}

/** Whether it is not known what became of a creation; one that the service answered with a fault has failed. */
export function inDoubt(entry: CreationFacts): boolean {
  return mayHaveMadeRun(entry) && entry.outcome !== 'failed';
}

/** Puts each creation's lines together as they come from the newest to the oldest. */
export class JournalFold {
  readonly #outcomes = new Map<string, Partial<JournalEntry>>();
  /** Creations that were sent more than once, so that their first lines come again. */
  readonly #repeated = new Set<string>();
  /** Lines that could not be read. */
  damaged = 0;

  /** Takes the line before the ones taken so far; gives the creation it begins, with all that came of it. */
  take(text: string): JournalEntry | undefined {
    if (text.trim() === '') return undefined;
    const line = parseLine(text);
    if (line === undefined) this.damaged += 1;
    else if (isStart(line)) return this.#begun(line);
    else this.#outcomes.set(line.id, { ...outcomeOf(line), ...this.#outcomes.get(line.id) });
    return undefined;
  }

  #begun({ again, ...start }: Line & JournalEntry): JournalEntry | undefined {
    if (this.#repeated.has(start.id)) return undefined;
    if (again === true) this.#repeated.add(start.id);
    const outcome = this.#outcomes.get(start.id);
    this.#outcomes.delete(start.id);
    return { ...start, ...outcome };
  }
}

type Line = JsonObject & { readonly id: string };

function parseLine(text: string): Line | undefined {
  const line = parseJson(text);
  return isObject(line) && typeof line['id'] === 'string' ? (line as Line) : undefined;
}

function isStart(line: Line): line is Line & JournalEntry {
  return ['time', 'baseUrl', 'promptVersionId'].every(key => typeof line[key] === 'string');
}

function outcomeOf({ outcome, recovered, clockOffsetMs, ...line }: Line): Partial<JournalEntry> {
  const texts = ['runId', 'runStatus', 'noted'].filter(key => typeof line[key] === 'string');
  return {
    ...(CREATION_OUTCOMES.some(one => one === outcome) && { outcome: outcome as CreationOutcome }),
    ...Object.fromEntries(texts.map(key => [key, line[key]])),
    ...(recovered === true && { recovered }),
    ...(typeof clockOffsetMs === 'number' && { clockOffsetMs }),
  };
}
