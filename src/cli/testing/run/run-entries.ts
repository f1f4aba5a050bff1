import type { Connection, Context } from '../../context.ts';
import type { Job } from '../../jobs/job.ts';
import type { BatchJournal } from '../../jobs/job-journal.ts';
import { notRun, ResumableRequests, type ResumableRequestsOptions } from '../../jobs/resumable-requests.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';
import { decidingCount, type EntryResult, entryResult, type Repetition } from '../result.ts';
import { type CheckTools, checkRun } from './check-run.ts';
import { JudgeJournal } from './judge-journal.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import { askerOf, type QuestionRounds, roundsOf } from './question-rounds.ts';
import { inTurn, Turns } from './turns.ts';

export interface RunEntriesOptions extends ResumableRequestsOptions, Pick<CheckTools, 'judge'> {}

/** One repetition of an entry. */
interface RepetitionJob extends Job {
  /** The number among equal requests, from 1. */
  readonly repetition: number;
  readonly prepared: PreparedEntry;
}

/**
 * Runs and checks all repetitions of every entry. The results are in the order of the entries.
 *
 * @throws {CliError} INTERRUPTED; the results so far are in the journal for `--resume`
 */
export async function runEntries(
  ctx: Context,
  connection: Connection,
  entries: readonly PreparedEntry[],
  options: RunEntriesOptions,
): Promise<EntryResult[]> {
  const { journal, stop } = options;
  const repetitions = new Map<string, Repetition>();
  const isOpen = (prepared: PreparedEntry): boolean => !isCaseDecided(prepared, repetitions);
  const jobs = entries
    .flatMap(prepared => repetitionJobs(prepared, isOpen))
    .map((job, index) => ({ ...job, row: index + 1 }));
  const ids = new Set(jobs.map(({ id }) => id));
  const requests = await ResumableRequests.open(ctx, connection, id => ids.has(askerOf(id)), options);
  if (options.resume) await resumeJudging(ctx, ids, options);
  const check = async (
    { job, result, isEarlier }: Answered,
    tools: Pick<CheckTools, 'rounds' | 'onAnswer'> = {},
  ): Promise<Repetition> => {
    const log = new JudgeJournal(ctx, job.id, options);
    const repetition = await checkRun(ctx, job.prepared, result, { ...options, log, ...tools });
    repetitions.set(job.id, isEarlier && !log.hasBegun ? { ...repetition, isEarlier } : repetition);
    // A refusal of the judge would repeat, so nothing more is started.
    if (result.run !== undefined && repetition.isLeft)
      stop.register({ kind: 'postponed', error: repetition.fault });
    return repetition;
  };
  const unchecked: Answered[] = [];
  const [faulty, runnable] = [jobs.filter(hasFaultyCase), jobs.filter(job => !hasFaultyCase(job))];
  for (const job of faulty) {
    await check({ job, result: notRun(job.prepared.entry.testCase.fault), isEarlier: false });
  }
  const others = runnable.filter(({ prepared }) => !prepared.entry.testCase.turn);
  await requests.run(others, async (job, result, isEarlier) => {
    if (requests.handsOver) unchecked.push({ job, result, isEarlier });
    else await check({ job, result, isEarlier });
  });
  if (requests.handsOver) await checkTogether(ctx, requests, unchecked, check);
  await runTurns(ctx, jobs, requests, check);
  const results = entries.map(prepared => {
    const own = repetitionIds(prepared).flatMap(id => repetitions.get(id) ?? []);
    return entryResult(prepared.entry, own);
  });
  // Concurrent writes share one flush.
  await Promise.all(
    results.map(async ({ status: verdict }, index) => {
      const prepared = entries[index];
      if (!prepared || verdict === 'unchecked') return;
      const { nameKey } = prepared;
      const ids = [repetitionId(prepared), ...(nameKey === undefined ? [] : [nameKey])];
      await Promise.all(ids.map(id => journal.append({ kind: 'verdict', id, verdict })));
    }),
  );
  return results;
}

/** Runs the cases that take each other's answers, one after another. */
async function runTurns(
  ctx: Context,
  jobs: readonly RepetitionJob[],
  requests: ResumableRequests,
  check: (answered: Answered, tools?: Pick<CheckTools, 'onAnswer'>) => Promise<Repetition>,
): Promise<void> {
  const turns = new Turns(ctx);
  for (const { job, turn } of inTurn(jobs)) {
    const { prepared } = job;
    if (job.isWanted?.() === false) continue;
    const { fault } = prepared.entry.testCase;
    if (fault !== undefined) {
      turns.settle(prepared, turn, notRun(fault), false);
      continue;
    }
    const unanswered = turns.unanswered(prepared, turn);
    const made = unanswered ?? (await turns.next(prepared, turn).catch(notRun));
    ctx.signal.throwIfAborted();
    if ('fault' in made) {
      const repetition = await check({ job, result: made, isEarlier: false });
      turns.settle(prepared, turn, repetition, false);
      continue;
    }
    const { answered, creates, ...next } = made;
    const request = async () => ({ ...next.prepared.request, repetition: job.repetition });
    await requests.run([{ ...job, ...next, creates, request }], async (job, result, isEarlier) => {
      let hasAnswer = false;
      const onAnswer: typeof answered = (...answer) => {
        hasAnswer = true;
        answered(...answer);
      };
      const repetition = await check({ job, result, isEarlier }, { onAnswer });
      turns.settle(prepared, turn, repetition, hasAnswer);
    });
  }
}

/** A repetition with its result. */
interface Answered {
  readonly job: RepetitionJob;
  readonly result: RequestResult;
  readonly isEarlier: boolean;
}

function hasFaultyCase({ prepared }: RepetitionJob): boolean {
  return prepared.entry.testCase.fault !== undefined;
}

/** Checks answers that arrived together, so that the questions to judges go to their provider as batches too. */
async function checkTogether(
  ctx: Context,
  kept: ResumableRequests,
  unchecked: readonly Answered[],
  check: (answered: Answered, tools: { readonly rounds: QuestionRounds }) => Promise<Repetition>,
): Promise<void> {
  const rounds = roundsOf(kept);
  await Promise.all(unchecked.map(answered => rounds.during(() => check(answered, { rounds }))));
  ctx.signal.throwIfAborted();
  if (rounds.fault !== undefined) throw rounds.fault;
}

/** Returns true if a case did not pass when it was last run, as it is or before an edit. */
export function hasFailed(journal: BatchJournal, prepared: PreparedEntry): boolean {
  const { verdicts } = journal;
  const verdict = verdicts.get(prepared.nameKey ?? '') ?? verdicts.get(repetitionId(prepared));
  return verdict !== undefined && verdict !== 'passed';
}

function repetitionId({ key, firstRepetition }: PreparedEntry, at = 0): string {
  return `${key}-${firstRepetition + at}`;
}

function repetitionIds(prepared: PreparedEntry): string[] {
  return Array.from({ length: prepared.entry.testCase.repeat }, (_, index) => repetitionId(prepared, index));
}

function repetitionJobs(
  prepared: PreparedEntry,
  isOpen: (prepared: PreparedEntry) => boolean,
): Omit<RepetitionJob, 'row'>[] {
  const { entry, firstRepetition, request, estimatedCredits } = prepared;
  return repetitionIds(prepared).map((id, index) => ({
    id,
    prepared,
    repetition: firstRepetition + index,
    estimatedCredits,
    request: async () => ({ ...request, repetition: firstRepetition + index }),
    ...(entry.testCase.untilDecided && { isWanted: () => isOpen(prepared) }),
  }));
}

/** Returns true if a case that runs until decided is decided. */
function isCaseDecided(prepared: PreparedEntry, repetitions: ReadonlyMap<string, Repetition>): boolean {
  const { pass, untilDecided } = prepared.entry.testCase;
  if (!untilDecided || pass.kind !== 'rate') return false;
  const own = repetitionIds(prepared).map(id => repetitions.get(id));
  return decidingCount(pass.rate, own) !== undefined;
}

/** Counts the judge's spending on these jobs, and on all others since the test was started. */
async function resumeJudging(
  ctx: Context,
  ids: ReadonlySet<string>,
  { journal, budget }: RunEntriesOptions,
): Promise<void> {
  const extras = [...journal.extras].filter(
    ([id, { job }]) => job === undefined || ids.has(job) || !journal.earlier.has(id),
  );
  if (extras.length === 0) return;
  const judged = extras.flatMap(([, { runId }]) => (runId === undefined ? [] : [{ runId }]));
  const unanswered = extras.flatMap(([id, { runId }]) => (runId === undefined ? [id] : []));
  budget.resume(await ctx.localConnection('the judge'), judged, unanswered);
}
