/**
 * What became of a creation: `refused` and `none` made no run, the one by the service's word, the other by its list;
 * `lost`, `interrupted` and `failed` (a fault the service answered with) may have made one.
 */
export const CREATION_OUTCOMES = [
  'created',
  'refused',
  'none',
  'lost',
  'interrupted',
  'failed',
  'ended',
] as const;
export type CreationOutcome = (typeof CREATION_OUTCOMES)[number];

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
export interface JournalEntry {
  /** Sent as `Idempotency-Key` as well. */
  readonly id: string;
  /** ISO 8601, by this machine's clock, from before the request was sent for the first time. */
  readonly time: string;
  readonly baseUrl: string;
  readonly promptVersionId: string;
  readonly inputsDigest: string;
  /** How far the service's clock was ahead of this machine's then, in milliseconds; undefined where not known. */
  readonly clockOffsetMs?: number;
  /** The process that sent it. */
  readonly pid?: number;
  readonly outcome?: CreationOutcome;
  readonly runId?: string;
  readonly runStatus?: string;
  readonly recovered?: true;
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
    if (text === '' || text.trim() === '') return undefined;
    const line = parseLine(text);
    if (line === undefined) {
      this.damaged += 1;
      return undefined;
    }
    return isStart(line) ? this.#begun(line) : this.#became(line);
  }

  #begun({ again, ...start }: Line & JournalEntry): JournalEntry | undefined {
    if (this.#repeated.has(start.id)) return undefined;
    if (again === true) this.#repeated.add(start.id);
    const outcome = this.#outcomes.get(start.id);
    this.#outcomes.delete(start.id);
    return outcome === undefined ? start : { ...start, ...outcome };
  }

  #became(line: Line): undefined {
    this.#outcomes.set(line.id, { ...outcomeOf(line), ...this.#outcomes.get(line.id) });
  }
}

type Line = { readonly id: string } & Readonly<Record<string, unknown>>;

function parseLine(line: string): Line | undefined {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
      ? (value as Line)
      : undefined;
  } catch {
    return undefined;
  }
}

function isStart(line: Line): line is Line & JournalEntry {
  return (
    typeof line['time'] === 'string' &&
    typeof line['baseUrl'] === 'string' &&
    typeof line['promptVersionId'] === 'string'
  );
}

function outcomeOf(line: Line): Partial<JournalEntry> {
  const { outcome, runId, runStatus, noted, recovered, clockOffsetMs } = line;
  const known = CREATION_OUTCOMES.find(one => one === outcome);
  return {
    ...(known !== undefined && { outcome: known }),
    ...(typeof runId === 'string' && { runId }),
    ...(typeof runStatus === 'string' && { runStatus }),
    ...(typeof noted === 'string' && { noted }),
    ...(recovered === true && { recovered }),
    ...(typeof clockOffsetMs === 'number' && { clockOffsetMs }),
  };
}
