import { randomUUID } from 'node:crypto';
import type { BatchJournal } from '../batch-journal.ts';
import { FORGOTTEN_ID_PREFIX } from '../journal-events.ts';

/** Rows that are handed over, or about to be, as one batch of a provider. */
export interface BatchHandover {
  /** The prefix of its requests' names, by which the batch can be found. */
  readonly key: string;
  /** The time at which it was made, as ISO 8601; undefined if an earlier version made it. */
  readonly time?: string | undefined;
  readonly promptVersionId: string;
  /** The provider interface of its requests; undefined if an earlier version made them. */
  readonly providerInterface?: string | undefined;
  readonly rows: ReadonlyMap<string, HandoverRow>;
  /** The provider's id of the file of its requests; undefined until that is accepted. */
  fileId?: string | undefined;
  /** The provider's id of the batch; undefined until that is accepted. */
  batchId?: string | undefined;
}

export interface HandoverRow {
  /** The name of its request. */
  readonly customId: string;
  readonly inputsDigest: string;
  readonly promptVersionId: string;
}

/** Returns a handover with a new key by default. The nth row is the request `<key>-<n>`. */
export function createHandover(
  promptVersionId: string,
  rows: readonly (readonly [id: string, inputsDigest: string])[],
  {
    key = randomUUID().replaceAll('-', ''),
    time,
    providerInterface,
  }: Partial<Pick<BatchHandover, 'key' | 'time' | 'providerInterface'>> = {},
): BatchHandover {
  const namedRows = rows.map(
    ([id, inputsDigest], index) =>
      [id, { customId: `${key}-${index + 1}`, inputsDigest, promptVersionId }] as const,
  );
  return { key, time, promptVersionId, providerInterface, rows: new Map(namedRows) };
}

/** Writes a handover to the journal. Resolves once the line would survive a power cut. */
export function writeHandover(
  journal: BatchJournal,
  { key, time, promptVersionId, providerInterface, rows }: BatchHandover,
): Promise<void> {
  const digests = [...rows].map(([id, { inputsDigest }]) => [id, inputsDigest] as const);
  return journal.append({
    kind: 'handover',
    key,
    time,
    promptVersionId,
    providerInterface,
    rows: digests,
  });
}

/** Updates a handover with what the provider has accepted, and writes it to the journal. */
export function updateHandover(
  journal: BatchJournal,
  handover: BatchHandover,
  progress: Pick<BatchHandover, 'fileId' | 'batchId'>,
): Promise<void> {
  Object.assign(handover, progress);
  const { key, fileId, batchId } = handover;
  return journal.append({ kind: 'handover progress', key, fileId, batchId });
}

/** Returns the handovers in the journal, in order. */
export function readHandovers({ handovers }: Pick<BatchJournal, 'handovers'>): BatchHandover[] {
  return Array.from(handovers, ({ handover, progress }) => {
    const { promptVersionId, rows, key, time, providerInterface } = handover;
    return {
      ...createHandover(promptVersionId, rows, { key, time, providerInterface }),
      fileId: progress?.fileId,
      batchId: progress?.batchId,
    };
  });
}

/**
 * Returns the handed-over rows by their ids, each from its last handover. Leaves out forgotten
 * rows, which only keep the places of the others.
 */
export function collectHandoverRows(
  journal: Pick<BatchJournal, 'handovers'>,
): Map<string, HandoverRow> {
  const rows = readHandovers(journal).flatMap(handover => [...handover.rows]);
  return new Map(rows.filter(([id]) => !id.startsWith(FORGOTTEN_ID_PREFIX)));
}
