import type { Connection, Context } from '../context.ts';
import type { EarlierSpending } from '../creation/spending/budget.ts';
import type { EarlierRun } from '../creation/spending/spending.ts';
import { type JournalEntry, mayHaveMadeRun } from '../settings/journal/journal-lines.ts';
import type { BatchJournal } from './batch-journal.ts';
import type { JobState } from './read-journal.ts';
import { recordSettlement, type Settlement, settleDoubts } from './settle-doubts.ts';

/** The state of a job whose creation the service answered with its own fault. */
const FAILED_BY_SERVICE = {
  step: 'failed',
  mayHaveRun: true,
  error: 'the service could not create the run; it may have created a run anyway (SERVER_ERROR)',
} as const;

/** The jobs' states in a resumed batch or test. */
export interface RecalledJobs {
  readonly states: ReadonlyMap<string, JobState>;
  /** The settlement of each creation in doubt, by job id. */
  readonly settlements: ReadonlyMap<string, Settlement>;
}

/**
 * Merges the states of jobs from their journal and the machine's, and settles creations in doubt in
 * one pass over the list of runs.
 *
 * @param options `changedJobIds`: the jobs whose request has changed, so that their creations can't
 * be sent again; `otherRunIds`: runs that are known to belong to other jobs
 */
export async function recallJobs(
  ctx: Context,
  connection: Connection,
  journal: BatchJournal,
  {
    changedJobIds,
    otherRunIds = [],
  }: {
    readonly changedJobIds: ReadonlySet<string>;
    readonly otherRunIds?: Iterable<string>;
  },
): Promise<RecalledJobs> {
  const states = new Map(journal.states);
  await mergeMachineEntries(ctx, states);
  const doubts = [...states].flatMap(([jobId, { step, entry, row }]) =>
    step === 'creating' && entry !== undefined ? [{ ...entry, job: { id: jobId, row } }] : [],
  );
  const settledDoubts = await settleDoubts(ctx, connection, doubts, {
    signal: ctx.signal,
    maxPages: Number.POSITIVE_INFINITY,
    knownRunIds: new Set([
      ...otherRunIds,
      ...[...states.values()].flatMap(({ runId }) => runId ?? []),
    ]),
    otherDoubts: [...states.values()].flatMap(({ mayHaveRun, entry }) =>
      mayHaveRun && entry !== undefined ? [entry] : [],
    ),
  });

  const settlements = new Map<string, Settlement>();
  for (const [creation, settlement] of settledDoubts) {
    const { job } = creation;
    if (settlement.kind === 'repeat' && changedJobIds.has(job.id)) continue;
    settlements.set(job.id, settlement);
    await recordSettlement(ctx, journal, { job, creation }, settlement);
    if (settlement.kind === 'in doubt') {
      await journal.recordCandidates(job, settlement.candidates ?? []);
    }
  }

  return { states, settlements };
}

/** Returns the jobs' runs and their creations in doubt, for the budget. */
export function collectEarlierSpending({ states, settlements }: RecalledJobs): EarlierSpending {
  const runs: EarlierRun[] = [];
  const doubtIds: string[] = [];
  for (const [id, { step, entry, mayHaveRun, runIds }] of states) {
    const settlement = settlements.get(id);
    const adoptedRunIds = settlement?.kind === 'wait' ? [settlement.runId] : [];
    for (const runId of [...runIds, ...adoptedRunIds]) {
      runs.push({ runId, promptVersionId: entry?.promptVersionId });
    }

    const isInDoubt =
      step === 'creating' && settlement?.kind !== 'wait' && settlement?.kind !== 'none';
    if (isInDoubt || (mayHaveRun && step === 'failed')) doubtIds.push(entry?.id ?? id);
  }

  return { runs, doubtIds };
}

/**
 * Adds facts from the machine's journal to the states, because a process that died may have written
 * more to that journal than to the batch's own.
 */
async function mergeMachineEntries(
  { journal }: Context,
  states: Map<string, JobState>,
): Promise<void> {
  const jobIdsByEntryId = new Map<string, string>();
  let earliestTime = Number.POSITIVE_INFINITY;
  for (const [id, { step, entry }] of states) {
    if (step !== 'creating' || entry === undefined) continue;
    jobIdsByEntryId.set(entry.id, id);
    earliestTime = Math.min(earliestTime, Date.parse(entry.time));
  }

  for await (const entry of journal.readNewestFirst(
    ({ time }) => Date.parse(time) < earliestTime,
  )) {
    if (jobIdsByEntryId.size === 0) return;
    const id = jobIdsByEntryId.get(entry.id);
    const state = id === undefined ? undefined : states.get(id);
    if (id === undefined || state === undefined) continue;
    jobIdsByEntryId.delete(entry.id);
    states.set(id, withMachineEntry(state, entry));
  }
}

/** Returns a state with the facts about its creation from the machine's journal. */
function withMachineEntry(state: JobState, entry: JournalEntry): JobState {
  const { runId, recovered = false, clockOffsetMs, outcome } = entry;
  if (runId !== undefined) {
    return { ...state, step: 'running', runId, runIds: [...state.runIds, runId], recovered };
  }

  if (!mayHaveMadeRun(entry)) return { ...state, step: 'waiting' };
  if (outcome === 'failed') return { ...state, ...FAILED_BY_SERVICE };
  if (clockOffsetMs === undefined || state.entry === undefined) return state;
  return { ...state, entry: { ...state.entry, clockOffsetMs } };
}
