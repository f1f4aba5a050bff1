/** What became of a creation: `refused` made no run; `lost` and `interrupted` may have made one. */
export const CREATION_OUTCOMES = ['created', 'refused', 'lost', 'interrupted', 'ended'] as const;
export type CreationOutcome = (typeof CREATION_OUTCOMES)[number];

export interface JournalOutcome {
  readonly outcome: CreationOutcome;
  readonly runId?: string;
  readonly runStatus?: string;
}

/** A creation with everything the journal says of it. */
export interface JournalEntry {
  readonly id: string;
  /** ISO 8601, by this machine's clock, from before the request was sent. */
  readonly time: string;
  readonly baseUrl: string;
  readonly promptVersionId: string;
  readonly inputsDigest: string;
  /** The process that sent it. */
  readonly pid?: number;
  readonly outcome?: CreationOutcome;
  readonly runId?: string;
  readonly runStatus?: string;
  /** When the outcome was written, ISO 8601. */
  readonly noted?: string;
}

/** Whether a creation may have made a run whose id never arrived. */
export function inDoubt(entry: JournalEntry): boolean {
  return entry.runId === undefined && entry.outcome !== 'refused';
}

/** Puts each creation's lines together; lines that can't be read are counted and left out. */
export function foldJournal(text: string): { entries: JournalEntry[]; damaged: number } {
  const entries = new Map<string, JournalEntry>();
  let damaged = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const record = parseLine(line);
    if (record === undefined) damaged += 1;
    else if (isStart(record)) entries.set(record.id, record);
    else {
      const start = entries.get(record.id);
      if (start !== undefined) entries.set(record.id, { ...start, ...outcomeOf(record) });
    }
  }
  return { entries: [...entries.values()], damaged };
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
  return [line['time'], line['baseUrl'], line['promptVersionId']].every(field => typeof field === 'string');
}

function outcomeOf(line: Line): Partial<JournalOutcome & Pick<JournalEntry, 'noted'>> {
  const outcome = CREATION_OUTCOMES.find(known => known === line['outcome']);
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(typeof line['runId'] === 'string' ? { runId: line['runId'] } : {}),
    ...(typeof line['runStatus'] === 'string' ? { runStatus: line['runStatus'] } : {}),
    ...(typeof line['noted'] === 'string' ? { noted: line['noted'] } : {}),
  };
}
