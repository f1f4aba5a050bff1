import type { Run } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { countOf, isObject } from '../../core/json-value.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import type { EarlierRun } from '../../creation/spending.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { errorText, type Job, type JobOutcome, type JobPlan } from '../../jobs/job.ts';
import type { BatchJournal } from '../../jobs/job-journal.ts';
import type { JobState } from '../../jobs/read-journal.ts';
import { type KnownJobs, recallJobs, spentBefore } from '../../jobs/recall-jobs.ts';
import { type RequestResult, runRequests } from '../../jobs/run-requests.ts';
import type { Stop } from '../../jobs/stop.ts';
import { decide, type EntryResult, type Repetition, resultOf } from '../result.ts';
import { type CheckTools, checkRun } from './check-run.ts';
import { JudgeJournal } from './judge-journal.ts';
import type { PreparedEntry } from './prepare-entries.ts';

export interface RunEntriesOptions extends Omit<CheckTools, 'log'> {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly journal: BatchJournal;
  /** Whether what is known of an earlier test is gone on with. */
  readonly resume: boolean;
  /** Shared by all that the command runs. */
  readonly stop: Stop;
  /** Whether what may have made a run is created again. */
  readonly retryUnknown: boolean;
}

/** One repetition of an entry. */
interface RepetitionJob extends Job {
  readonly prepared: PreparedEntry;
}

/**
 * Runs every entry as often as it says and checks what comes back; results are in the order of the entries.
 *
 * @throws {CliError} INTERRUPTED; what has ended by then is kept for `--resume`
 */
export async function runEntries(
  ctx: Context,
  connection: Connection,
  entries: readonly PreparedEntry[],
  options: RunEntriesOptions,
): Promise<EntryResult[]> {
  const { concurrency, journal, budget, stop } = options;
  const repetitions = new Map<string, Repetition>();
  const isOpen = (prepared: PreparedEntry): boolean => !isDecided(prepared, repetitions);
  const jobs = entries
    .flatMap(prepared => repetitionJobs(prepared, isOpen))
    .map((job, at) => ({ ...job, row: at + 1 }));
  if (!options.resume) await journal.forget(jobs.map(({ id }) => id));
  const known = await recallJobs(ctx, connection, journal, { changed: new Set() });
  const facts = { service: connection.service, promptVersionId: '', options: {} };
  await journal.begin(facts, new Date(ctx.clock.now()).toISOString());
  if (options.resume) await resumeBudget(ctx, connection, known, options);
  const check = async (
    { id, prepared }: RepetitionJob,
    result: RequestResult,
    isEarlier = false,
  ): Promise<void> => {
    const log = new JudgeJournal(ctx, id, options);
    const repetition = await checkRun(ctx, prepared, result, { ...options, log });
    repetitions.set(id, isEarlier && !log.hasBegun ? { ...repetition, isEarlier } : repetition);
    // The judge of an answer was refused, as it would be the next time.
    if (result.run !== undefined && repetition.isLeft)
      stop.take({ kind: 'put off', error: repetition.fault });
  };
  const planned: { job: RepetitionJob; plan: JobPlan }[] = [];
  for (const job of jobs) {
    const plan = planOf(job, known, connection, options.retryUnknown);
    if ('kind' in plan) planned.push({ job, plan });
    else await check(job, plan, plan.run !== undefined);
  }
  await runRequests(ctx, connection, planned, {
    concurrency,
    budget,
    journal,
    stop,
    onResult: async (job, result, outcome) => {
      await keep(journal, job, result, outcome);
      await check(job, result);
    },
  });
  const results: EntryResult[] = [];
  for (const prepared of entries) {
    const own = repetitionIds(prepared).flatMap(id => repetitions.get(id) ?? []);
    const result = resultOf(prepared.entry, own);
    await journal.append({ kind: 'verdict', id: repetitionId(prepared), verdict: result.status });
    results.push(result);
  }
  return results;
}

/** Whether a case did not pass when it was last run. */
export function hasFailed(journal: BatchJournal, prepared: PreparedEntry): boolean {
  const verdict = journal.verdicts.get(repetitionId(prepared));
  return verdict !== undefined && verdict !== 'passed';
}

function repetitionId({ key, firstRepetition }: PreparedEntry, at = 0): string {
  return `${key}-${firstRepetition + at}`;
}

function repetitionIds(prepared: PreparedEntry): string[] {
  return Array.from({ length: prepared.entry.testCase.repeat }, (_, at) => repetitionId(prepared, at));
}

function repetitionJobs(
  prepared: PreparedEntry,
  isOpen: (prepared: PreparedEntry) => boolean,
): Omit<RepetitionJob, 'row'>[] {
  const { entry, firstRepetition, request, estimatedCredits } = prepared;
  return repetitionIds(prepared).map((id, at) => ({
    id,
    prepared,
    estimatedCredits,
    request: async () => ({ ...request, repetition: firstRepetition + at }),
    ...(entry.testCase.untilDecided && { isWanted: () => isOpen(prepared) }),
  }));
}

/** Returns true for a case that runs until it is decided, and is. */
function isDecided(prepared: PreparedEntry, repetitions: ReadonlyMap<string, Repetition>): boolean {
  const { pass, untilDecided } = prepared.entry.testCase;
  if (!untilDecided || pass.kind !== 'rate') return false;
  const own = repetitionIds(prepared).map(id => repetitions.get(id));
  return decide(pass.rate, own) !== undefined;
}

/** Counts what an earlier start of the test has spent, and what judging cost then. */
async function resumeBudget(
  ctx: Context,
  connection: Connection,
  known: KnownJobs,
  { journal, budget }: RunEntriesOptions,
): Promise<void> {
  const { runs, lost } = spentBefore(known);
  budget.resume(connection, [...endedRuns(journal), ...runs], lost);
  if (journal.extras.size === 0) return;
  const judged = [...journal.extras.values()].flatMap(({ runId }) =>
    runId === undefined ? [] : [{ runId }],
  );
  const unanswered = [...journal.extras].flatMap(([id, { runId }]) => (runId === undefined ? [id] : []));
  budget.resume(await ctx.localConnection(), judged, unanswered);
}

/** The runs of repetitions that have ended, with their service tokens. */
function endedRuns({ states }: BatchJournal): EarlierRun[] {
  return [...states.values()].flatMap(({ entry, result }): EarlierRun[] => {
    const run = endedResult(result)?.run;
    if (run === undefined) return [];
    return [{ runId: run.runId, tokens: countOf(run.tokens), promptVersionId: entry?.promptVersionId }];
  });
}

/** Writes how a repetition ended; a paid run is never made again when the test is resumed. */
async function keep(
  journal: BatchJournal,
  job: RepetitionJob,
  { run, seconds }: RequestResult,
  outcome: JobOutcome,
): Promise<void> {
  if (run !== undefined) {
    const step = run.runStatus === 'succeeded' ? 'succeeded' : 'failed';
    await journal.ended(job, { step, runId: run.runId, error: null, result: { run, seconds } });
  } else if (outcome.kind === 'failed') {
    const { runId = null, mayHaveRun, error } = outcome;
    await journal.ended(job, { step: 'failed', runId, error: errorText(error), mayHaveRun });
  } else if (outcome.kind === 'in doubt') {
    await journal.candidates(job, outcome.candidates);
  }
}

/** What the journal holds of a repetition that has ended with a run. */
function endedResult(value: unknown): RequestResult | undefined {
  if (!isObject(value) || !isObject(value['run']) || typeof value['seconds'] !== 'number') return undefined;
  return { run: value['run'] as unknown as Run, seconds: value['seconds'], fault: undefined };
}

/**
 * What is done for a repetition, or what is known to have become of it. What a test has paid for, or may have, is never
 * run again unasked.
 */
function planOf(
  { id, prepared }: RepetitionJob,
  { states, settlements }: KnownJobs,
  connection: Connection,
  retryUnknown: boolean,
): JobPlan | RequestResult {
  const { fault } = prepared.entry.testCase;
  if (fault !== undefined) return notRun(fault);
  const state = states.get(id);
  if (state === undefined || state.step === 'waiting') return { kind: 'create' };
  const ended = endedResult(state.result);
  if (ended !== undefined) return ended;
  if (state.runId !== undefined) return { kind: 'wait', runId: state.runId, recovered: state.recovered };
  if (state.step !== 'creating')
    return !state.mayHaveRun || retryUnknown ? { kind: 'create' } : notRun(mayHaveRunError(state));
  const settlement = settlements.get(id);
  if (state.entry === undefined || settlement?.kind === 'none') return { kind: 'create' };
  if (settlement?.kind === 'repeat') return { kind: 'repeat', entry: state.entry };
  if (settlement?.kind === 'wait') return { kind: 'wait', runId: settlement.runId, recovered: true };
  if (retryUnknown) return { kind: 'create' };
  const cause = new Error('the test was interrupted');
  return notRun(new CreationInDoubt(cause, settlement?.candidates ?? [], state.entry, connection));
}

function notRun(error: unknown): RequestResult {
  return { run: undefined, seconds: 0, fault: failureOf(error) };
}

function mayHaveRunError({ error }: JobState): CliError {
  const message = (error ?? 'the run could not be created').replace(/ \(\w+\)$/u, '');
  return new CliError(message, {
    status: 'SERVER_ERROR',
    exitCode: EXIT.fault,
    hints: ['It may have made a run all the same. Run it again with --resume --retry-unknown.'],
  });
}
