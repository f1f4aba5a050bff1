import type { Connection, Context } from '../../context.ts';
import type { Job } from '../../jobs/job.ts';
import { ResumableRequests, type ResumableRequestsOptions } from '../../jobs/resumable-requests.ts';
import { type RequestResult, toNotRunResult } from '../../jobs/run-requests.ts';
import {
  computeEntryResult,
  type EntryResult,
  findDecidingCount,
  type Repetition,
} from '../entry-result.ts';
import { JudgeJournal } from '../judging/judge-journal.ts';
import { createJournaledRounds, getRepetitionId } from '../judging/question-rounds.ts';
import { checkRun } from './check-run.ts';
import type { CheckTools } from './checked-answer.ts';
import { saveVerdicts } from './last-verdicts.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import { type PreparedTurn, sortJobsByTurn, TurnAnswers } from './turn-answers.ts';

export interface RunEntriesOptions extends ResumableRequestsOptions, Pick<CheckTools, 'judge'> {
  /** Called once the answer of a repetition has been checked. */
  readonly onChecked: () => void;
}

interface RepetitionJob extends Job {
  /** The number among equal requests, from 1. */
  readonly repetition: number;
  readonly preparedEntry: PreparedEntry;
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
  const checks = new RepetitionChecks(ctx, options);
  const jobs = entries
    .flatMap(preparedEntry => createRepetitionJobs(preparedEntry, checks))
    .map((job, index) => ({ ...job, row: index + 1 }));
  const ids = new Set(jobs.map(({ id }) => id));
  const requests = await ResumableRequests.open(
    ctx,
    connection,
    id => ids.has(getRepetitionId(id)),
    options,
  );

  if (options.resume) await resumeJudging(ctx, ids, options);

  for (const job of jobs) {
    const { fault } = job.preparedEntry.entry.testCase;
    if (fault !== undefined) {
      await checks.check({ job, result: toNotRunResult(fault), isEarlier: false });
    }
  }

  await runIndependent(ctx, jobs, requests, checks);
  await runTurns(ctx, jobs, requests, checks);

  const endedEntries = entries.map(preparedEntry => ({
    preparedEntry,
    result: computeEntryResult(preparedEntry.entry, checks.listRepetitions(preparedEntry)),
  }));
  const verdicts = endedEntries.flatMap(({ preparedEntry, result: { status: verdict } }) =>
    verdict === 'unchecked' ? [] : [{ preparedEntry, verdict }],
  );
  await saveVerdicts(ctx, verdicts);

  return endedEntries.map(({ result }) => result);
}

/** The job of a repetition with its result. */
interface CompletedRepetition {
  readonly job: RepetitionJob;
  readonly result: RequestResult;
  readonly isEarlier: boolean;
}

/** Checks the answers of repetitions, and keeps their results. */
class RepetitionChecks {
  readonly #ctx: Context;
  readonly #options: RunEntriesOptions;
  readonly #repetitions = new Map<string, Repetition>();

  constructor(ctx: Context, options: RunEntriesOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  async check(
    { job, result, isEarlier }: CompletedRepetition,
    tools: Pick<CheckTools, 'rounds' | 'onAnswer'> = {},
  ): Promise<Repetition> {
    const log = new JudgeJournal(this.#ctx, job.id, this.#options);
    const checkTools = { ...this.#options, log, ...tools };
    const repetition = await checkRun(this.#ctx, job.preparedEntry, result, checkTools);
    const wasChecked = isEarlier && !log.hasAsked;
    this.#repetitions.set(job.id, wasChecked ? { ...repetition, isEarlier } : repetition);
    this.#options.onChecked();

    // A refusal of the judge would repeat, so nothing more is started.
    if (result.run !== undefined && repetition.isPostponed) {
      this.#options.stop.register({ kind: 'postponed', error: repetition.fault });
    }

    return repetition;
  }

  /** Returns the checked repetitions of an entry, in order. */
  listRepetitions(preparedEntry: PreparedEntry): Repetition[] {
    return listRepetitionIds(preparedEntry).flatMap(id => this.#repetitions.get(id) ?? []);
  }

  /** Returns true if a case that runs until decided is decided. */
  isDecided(preparedEntry: PreparedEntry): boolean {
    const { passRule, runsUntilDecided } = preparedEntry.entry.testCase;
    if (!runsUntilDecided || passRule.kind !== 'rate') return false;
    const repetitions = listRepetitionIds(preparedEntry).map(id => this.#repetitions.get(id));
    return findDecidingCount(passRule.rate, repetitions) !== undefined;
  }
}

/**
 * Runs the cases that take no other's answer. Those of a provider's batch are checked together,
 * once all have ended.
 */
async function runIndependent(
  ctx: Context,
  jobs: readonly RepetitionJob[],
  requests: ResumableRequests,
  checks: RepetitionChecks,
): Promise<void> {
  const uncheckedRepetitions: CompletedRepetition[] = [];
  const independentJobs = jobs.filter(({ preparedEntry: { entry } }) => {
    return entry.testCase.fault === undefined && !entry.testCase.turn;
  });
  await requests.run(independentJobs, async (job, result, { isEarlier }) => {
    if (requests.usesProviderBatches) {
      uncheckedRepetitions.push({ job, result, isEarlier });
    } else {
      await checks.check({ job, result, isEarlier });
    }
  });

  if (requests.usesProviderBatches) {
    await checkTogether(ctx, requests, uncheckedRepetitions, checks);
  }
}

/**
 * Checks answers that arrived together, so that the questions to judges go to their provider as
 * batches too.
 */
async function checkTogether(
  ctx: Context,
  requests: ResumableRequests,
  repetitions: readonly CompletedRepetition[],
  checks: RepetitionChecks,
): Promise<void> {
  const rounds = createJournaledRounds(requests);
  await Promise.all(
    repetitions.map(repetition => rounds.runCheck(() => checks.check(repetition, { rounds }))),
  );
  ctx.signal.throwIfAborted();
  if (rounds.fault !== undefined) throw rounds.fault;
}

/** Runs the cases that take each other's answers, one after another. */
async function runTurns(
  ctx: Context,
  jobs: readonly RepetitionJob[],
  requests: ResumableRequests,
  checks: RepetitionChecks,
): Promise<void> {
  const turns = new TurnAnswers(ctx);
  for (const { job, turn } of sortJobsByTurn(jobs)) {
    if (job.isWanted?.() === false) continue;

    const { preparedEntry } = job;
    const { fault } = preparedEntry.entry.testCase;
    if (fault !== undefined) {
      turns.recordEnd(preparedEntry, turn, toNotRunResult(fault), { hasAnswer: false });
      continue;
    }

    const preparedTurn =
      turns.findNotRunResult(preparedEntry, turn) ??
      (await turns.prepareTurn(preparedEntry, turn).catch(toNotRunResult));
    ctx.signal.throwIfAborted();

    if ('fault' in preparedTurn) {
      const repetition = await checks.check({ job, result: preparedTurn, isEarlier: false });
      turns.recordEnd(preparedEntry, turn, repetition, { hasAnswer: false });
    } else {
      const { repetition, hasAnswer } = await runTurn(job, preparedTurn, requests, checks);
      if (repetition) turns.recordEnd(preparedEntry, turn, repetition, { hasAnswer });
    }
  }
}

/**
 * Runs and checks a case whose prompt takes earlier answers. `repetition` is undefined if it did
 * not end.
 */
async function runTurn(
  job: RepetitionJob,
  preparedTurn: PreparedTurn,
  requests: ResumableRequests,
  checks: RepetitionChecks,
): Promise<{ readonly repetition: Repetition | undefined; readonly hasAnswer: boolean }> {
  const { preparedEntry, expectedCreation } = preparedTurn;
  const turnJob: RepetitionJob = {
    ...job,
    preparedEntry,
    expectedCreation,
    buildRequest: async () => ({ ...preparedEntry.request, repetition: job.repetition }),
  };

  let hasAnswer = false;
  const onAnswer: PreparedTurn['onAnswer'] = (...answer) => {
    hasAnswer = true;
    preparedTurn.onAnswer(...answer);
  };

  let repetition: Repetition | undefined;
  await requests.run([turnJob], async (_, result, { isEarlier }) => {
    repetition = await checks.check({ job: turnJob, result, isEarlier }, { onAnswer });
  });

  return { repetition, hasAnswer };
}

function listRepetitionIds({ key, firstRepetition, entry }: PreparedEntry): string[] {
  return Array.from(
    { length: entry.testCase.repeat },
    (_, index) => `${key}-${firstRepetition + index}`,
  );
}

function createRepetitionJobs(
  preparedEntry: PreparedEntry,
  checks: RepetitionChecks,
): Omit<RepetitionJob, 'row'>[] {
  const { entry, firstRepetition, request, estimatedCredits } = preparedEntry;
  return listRepetitionIds(preparedEntry).map((id, index) => ({
    id,
    preparedEntry,
    repetition: firstRepetition + index,
    estimatedCredits,
    buildRequest: async () => ({ ...request, repetition: firstRepetition + index }),
    ...(entry.testCase.runsUntilDecided && { isWanted: () => !checks.isDecided(preparedEntry) }),
  }));
}

/**
 * Counts the judge's earlier spending on these repetitions, and on others since the resumed test was
 * started.
 */
async function resumeJudging(
  ctx: Context,
  ids: ReadonlySet<string>,
  { journal, budget }: RunEntriesOptions,
): Promise<void> {
  const extras = [...journal.extras].filter(
    ([id, { job }]) => job === undefined || ids.has(job) || !journal.earlierIds.has(id),
  );
  if (extras.length === 0) return;
  const runs = extras.flatMap(([, { runId }]) => (runId === undefined ? [] : [{ runId }]));
  const doubtIds = extras.flatMap(([id, { runId }]) => (runId === undefined ? [id] : []));
  budget.countEarlierSpending(await ctx.localConnection('the judge'), { runs, doubtIds });
}
