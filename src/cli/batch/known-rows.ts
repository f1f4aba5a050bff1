import type { Connection, Context } from '../context.ts';
import { type Doubt, recordNoRun, recordRecovered } from '../creation/find-run.ts';
import { mayHaveMadeRun } from '../settings/journal/journal-lines.ts';
import type { Results } from './results/results-line.ts';
import type { BatchJournal, JobState } from './run/job-journal.ts';
import { type Settlement, settleDoubts } from './run/settle-doubts.ts';

/** Entries in a row that are older than what is looked for, after which no newer one is expected. */
const ENOUGH_OLDER = 200;

/** What is known of the rows of a batch that is resumed. */
export interface KnownRows {
  readonly states: ReadonlyMap<string, JobState>;
  /** What can be done about each creation in doubt, by the row's id. */
  readonly settlements: ReadonlyMap<string, Settlement>;
}

/**
 * Puts together what the batch's journal and the machine's say of each row, and settles what can be settled of the
 * creations in doubt, in one pass over the list.
 *
 * @param changed ids of rows that are no longer what was sent: their creations can't be sent once more
 */
export async function recallRows(
  ctx: Context,
  connection: Connection,
  { journal, results }: { readonly journal: BatchJournal; readonly results: Results },
  changed: ReadonlySet<string>,
): Promise<KnownRows> {
  const states = new Map(journal.states);
  await recallFromMachine(ctx, states);
  const doubts = [...states].flatMap(([id, { step, entry }]) =>
    step === 'creating' && entry !== undefined ? [{ rowId: id, ...entry }] : [],
  );
  const settled = await settleDoubts(ctx, connection, doubts, {
    signal: ctx.signal,
    maxPages: Number.POSITIVE_INFINITY,
    knownRunIds: runIdsOf(states, results),
    otherDoubts: [...states.values()].flatMap(({ mayHaveRun, entry }) =>
      mayHaveRun && entry !== undefined ? [entry] : [],
    ),
  });
  const settlements = new Map<string, Settlement>();
  for (const [at, doubt] of doubts.entries()) {
    const settlement = settled[at];
    if (settlement === undefined || (settlement.kind === 'repeat' && changed.has(doubt.rowId))) continue;
    settlements.set(doubt.rowId, settlement);
    await recordSettlement(ctx, journal, { doubt, settlement, row: states.get(doubt.rowId)?.row ?? 0 });
  }
  return { states, settlements };
}

async function recordSettlement(
  ctx: Context,
  journal: BatchJournal,
  { doubt, settlement, row }: { doubt: Doubt & { rowId: string }; settlement: Settlement; row: number },
): Promise<void> {
  const place = { row, id: doubt.rowId };
  if (settlement.kind === 'wait') {
    ctx.io.note(`note: row ${row} goes on with run ${settlement.runId}`);
    recordRecovered(ctx, doubt, settlement.runId);
    await journal.running(place, settlement.runId, true);
  } else if (settlement.kind === 'none') {
    recordNoRun(ctx, doubt);
  } else if (settlement.kind === 'in doubt') {
    await journal.candidates(
      place,
      settlement.candidates.map(({ runId }) => runId),
    );
  }
}

function runIdsOf(states: ReadonlyMap<string, JobState>, results: Results): Set<string> {
  const ids = new Set<string>();
  for (const { runId } of states.values()) if (runId !== undefined) ids.add(runId);
  for (const { runId } of results.states.values()) if (runId !== undefined) ids.add(runId);
  return ids;
}

/** A process that died may have written to the machine's journal what it could no longer write to the batch's. */
async function recallFromMachine({ journal }: Context, states: Map<string, JobState>): Promise<void> {
  const open = new Map<string, string>();
  let from = Number.POSITIVE_INFINITY;
  for (const [id, { step, entry }] of states) {
    if (step !== 'creating' || entry === undefined) continue;
    open.set(entry.id, id);
    from = Math.min(from, Date.parse(entry.time));
  }
  let older = 0;
  for await (const entry of journal.newestFirst()) {
    if (open.size === 0 || older === ENOUGH_OLDER) return;
    older = Date.parse(entry.time) < from ? older + 1 : 0;
    const id = open.get(entry.id);
    const state = id === undefined ? undefined : states.get(id);
    if (id === undefined || state === undefined) continue;
    open.delete(entry.id);
    const { runId, recovered = false, clockOffsetMs } = entry;
    if (runId !== undefined) states.set(id, { ...state, step: 'running', runId, recovered });
    else if (!mayHaveMadeRun(entry)) states.set(id, { ...state, step: 'waiting' });
    else if (entry.outcome === 'failed') states.set(id, { ...state, ...FAILED });
    else if (clockOffsetMs !== undefined && state.entry !== undefined) {
      states.set(id, { ...state, entry: { ...state.entry, clockOffsetMs } });
    }
  }
}

const FAILED = {
  step: 'failed',
  mayHaveRun: true,
  error: 'the service could not create the run; it may have made a run all the same (SERVER_ERROR)',
} as const;
