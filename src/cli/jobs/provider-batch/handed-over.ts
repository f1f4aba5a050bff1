import { randomUUID } from 'node:crypto';
import type { BatchJournal } from '../job-journal.ts';
import { FORGOTTEN } from '../journal-events.ts';

/** Rows that were handed over, or are about to be, as one batch of the provider. */
export interface HandedOver {
  /** Begins the name of each of its requests, and is what the batch is found by. */
  readonly key: string;
  readonly promptVersionId: string;
  /** The interface of the provider that its requests are made for; undefined if an earlier version made them. */
  readonly interface?: string | undefined;
  /** By the id of the row. */
  readonly rows: ReadonlyMap<string, HandedRow>;
  file?: string | undefined;
  batch?: string | undefined;
}

interface HandedRow {
  /** The name of its request. */
  readonly customId: string;
  /** Of its inputs. */
  readonly inputsDigest: string;
  readonly promptVersionId: string;
}

/** The nth row is the request `<key>-<n>`; another batch has another key. */
export function handover(
  promptVersionId: string,
  rows: readonly (readonly [id: string, inputsDigest: string])[],
  {
    key = randomUUID().replaceAll('-', ''),
    interface: made,
  }: Partial<Pick<HandedOver, 'key' | 'interface'>> = {},
): HandedOver {
  const named = rows.map(
    ([id, inputsDigest], at) =>
      [id, { customId: `${key}-${at + 1}`, inputsDigest, promptVersionId }] as const,
  );
  return { key, promptVersionId, interface: made, rows: new Map(named) };
}

/** Resolves once the journal would survive a power cut. */
export function journalHandover(
  journal: BatchJournal,
  { key, promptVersionId, interface: made, rows }: HandedOver,
): Promise<void> {
  const digests = [...rows].map(([id, { inputsDigest }]) => [id, inputsDigest] as const);
  return journal.append({ kind: 'handover', key, promptVersionId, interface: made, rows: digests });
}

export function journalProgress(
  journal: BatchJournal,
  handed: HandedOver,
  news: Pick<HandedOver, 'file' | 'batch'>,
): Promise<void> {
  Object.assign(handed, news);
  const { key, file, batch } = handed;
  return journal.append({ kind: 'handover progress', key, file, batch });
}

/** What a batch has handed over so far, in order. */
export function readHandedOver({ handovers }: Pick<BatchJournal, 'handovers'>): HandedOver[] {
  return Array.from(handovers, ({ handover: { promptVersionId, rows, ...made }, progress }) => ({
    ...handover(promptVersionId, rows, made),
    file: progress?.file,
    batch: progress?.batch,
  }));
}

/** The rows that were handed over, by their ids, each as it was handed over last. */
export function handedRows(journal: Pick<BatchJournal, 'handovers'>): Map<string, HandedRow> {
  const rows = readHandedOver(journal).flatMap(handed => [...handed.rows]);
  return new Map(rows.filter(([id]) => !id.startsWith(FORGOTTEN)));
}
