import type { Run } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { failureOf } from '../core/failure.ts';
import { countOf, isObject } from '../core/json-value.ts';
import type { Budget } from '../creation/budget.ts';
import { CreationInDoubt } from '../creation/in-doubt.ts';
import type { EarlierRun } from '../creation/spending.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { PlannedJob } from './engine.ts';
import { errorText, type Job, type JobOutcome, type JobPlan } from './job.ts';
import type { BatchJournal } from './job-journal.ts';
import { handedRows } from './provider-batch/handed-over.ts';
import { throughProviders } from './provider-batch/through-provider.ts';
import type { JobState } from './read-journal.ts';
import { type KnownJobs, recallJobs, spentBefore } from './recall-jobs.ts';
import { type RequestResult, runRequests } from './run-requests.ts';
import type { Stop } from './stop.ts';

/** How jobs are gone on with after an earlier start of the same command. */
export interface ResumeOptions {
  /** True to go on with what an earlier start did. */
  readonly resume: boolean;
  /** True to create again what may have made a run. */
  readonly retryUnknown: boolean;
  /** True to hand jobs over to the provider of their models as its batches. */
  readonly providerBatch: boolean;
  /** True to cancel what was handed over. */
  readonly cancel: boolean;
}

export interface KeptRequestsOptions extends ResumeOptions {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly budget: Budget;
  readonly journal: BatchJournal;
  readonly stop: Stop;
}

/** Runs requests whose answers are kept in a journal, so that none is paid for twice if the command is started again. */
export class KeptRequests {
  readonly #ctx: Context;
  readonly #connection: Connection;
  readonly #options: KeptRequestsOptions;
  readonly #known: KnownJobs;
  /** True if jobs are handed over to the provider of their models. */
  readonly handsOver: boolean;

  private constructor(
    ctx: Context,
    connection: Connection,
    options: KeptRequestsOptions,
    { known, handsOver }: { readonly known: KnownJobs; readonly handsOver: boolean },
  ) {
    this.#ctx = ctx;
    this.#connection = connection;
    this.#options = options;
    this.#known = known;
    this.handsOver = handsOver;
  }

  /**
   * Reads what is known of the jobs, or forgets it unless they are resumed.
   *
   * @param isOwn returns true for the ids of the jobs, and of those that their answers ask for
   * @throws {CliError} USAGE_ERROR if some are in an open batch of a provider and are not resumed
   */
  static async open(
    ctx: Context,
    connection: Connection,
    isOwn: (id: string) => boolean,
    options: KeptRequestsOptions,
  ): Promise<KeptRequests> {
    const { journal, resume, budget } = options;
    const handed = openAtProvider(journal).filter(([id]) => isOwn(id));
    if (!resume) {
      if (handed.length > 0) throw isAtProvider();
      await journal.forget(isOwn);
    }
    const known = await recallJobs(ctx, connection, journal, { changed: new Set() });
    const facts = { service: connection.service, promptVersionId: '', options: {} };
    await journal.begin(facts, new Date(ctx.clock.now()).toISOString());
    if (resume) {
      const { runs, lost } = spentBefore(known);
      const names = handed.map(([, { customId }]) => customId);
      budget.resume(connection, [...endedRuns(journal), ...runs], [...lost, ...names]);
    }
    const handsOver = options.providerBatch || handed.length > 0;
    return new KeptRequests(ctx, connection, options, { known, handsOver });
  }

  /**
   * Runs jobs, or gives what is known to have become of them.
   *
   * @param onResult called with each that has ended; awaited. `isEarlier` is true if it had ended before
   * @throws {CliError} INTERRUPTED, and what no request could go on after
   */
  async run<J extends Job>(
    jobs: readonly J[],
    onResult: (job: J, result: RequestResult, isEarlier: boolean) => Promise<void>,
  ): Promise<void> {
    const { concurrency, budget, journal, stop, retryUnknown } = this.#options;
    const planned: { readonly job: J; readonly plan: JobPlan }[] = [];
    for (const job of jobs) {
      const plan = planOf(job, this.#known, this.#connection, retryUnknown);
      if ('kind' in plan) planned.push({ job, plan });
      else await onResult(job, plan, plan.run !== undefined);
    }
    const groups = this.handsOver ? await byVersion(planned) : undefined;
    await runRequests(this.#ctx, this.#connection, planned, {
      concurrency,
      budget,
      journal,
      stop,
      ...(groups && { through: (_, settle) => throughProviders(groups, this.#handing(settle)) }),
      onResult: async (job, result, outcome) => {
        await keep(this.#options.journal, this.#connection, { job, result, outcome });
        await onResult(job, result, false);
      },
    });
  }

  #handing(settle: (job: Job, outcome: JobOutcome) => Promise<void>): Parameters<typeof throughProviders>[1] {
    const { journal, stop, budget, cancel, retryUnknown } = this.#options;
    const [ctx, connection] = [this.#ctx, this.#connection];
    return {
      ctx,
      connection,
      journal,
      stop,
      budget,
      estimatedCredits: undefined,
      cancel,
      retryUnknown,
      settle,
    };
  }
}

/** The rows of batches at a provider that have not been collected, by their ids. */
function openAtProvider(journal: BatchJournal): [string, { readonly customId: string }][] {
  return [...handedRows(journal)].filter(([id]) => {
    const step = journal.states.get(id)?.step;
    return step !== 'succeeded' && step !== 'failed';
  });
}

function isAtProvider(): CliError {
  return usageError(
    'a batch of an earlier start is at the provider, and is paid for',
    'Collect it with the same command and --resume; with --resume --cancel cancel it.',
  );
}

async function byVersion(planned: readonly PlannedJob[]): Promise<Map<string, PlannedJob[]>> {
  const groups = new Map<string, PlannedJob[]>();
  for (const one of planned) {
    const { promptVersionId } = await one.job.request();
    groups.set(promptVersionId, [...(groups.get(promptVersionId) ?? []), one]);
  }
  return groups;
}

/** The runs of jobs that have ended, with their service tokens. */
function endedRuns({ states }: BatchJournal): EarlierRun[] {
  return [...states.values()].flatMap(({ entry, result }): EarlierRun[] => {
    const run = endedResult(result)?.run;
    if (run === undefined) return [];
    return [{ runId: run.runId, tokens: countOf(run.tokens), promptVersionId: entry?.promptVersionId }];
  });
}

interface Kept {
  readonly job: Job;
  readonly result: RequestResult;
  readonly outcome: JobOutcome;
}

/** Writes how a job ended; a paid run is never made again when the command is resumed. */
async function keep(
  journal: BatchJournal,
  { embedded }: Connection,
  { job, result: { run, seconds }, outcome }: Kept,
): Promise<void> {
  if (run !== undefined) {
    const step = run.runStatus === 'succeeded' ? 'succeeded' : 'failed';
    const end = { step, runId: run.runId, error: null, result: { run, seconds } } as const;
    await journal.ended(job, end, { durable: !embedded });
  } else if (outcome.kind === 'failed') {
    const { runId = null, mayHaveRun, error } = outcome;
    await journal.ended(job, { step: 'failed', runId, error: errorText(error), mayHaveRun });
  } else if (outcome.kind === 'in doubt') {
    await journal.candidates(job, outcome.candidates);
  }
}

/** What the journal holds of a job that has ended with a run. */
function endedResult(value: unknown): RequestResult | undefined {
  if (!isObject(value) || !isObject(value['run']) || typeof value['seconds'] !== 'number') return undefined;
  return { run: value['run'] as unknown as Run, seconds: value['seconds'], fault: undefined };
}

/** What is done for a job, or what is known to have become of it. What was paid for, or may be, is never run again unasked. */
function planOf(
  { id }: Job,
  { states, settlements }: KnownJobs,
  connection: Connection,
  retryUnknown: boolean,
): JobPlan | RequestResult {
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
  const cause = new Error('the command was interrupted');
  const error = new CreationInDoubt(cause, settlement?.candidates, state.entry, connection);
  return { ...notRun(error), isInDoubt: true };
}

/** The result of a job that can't be run. */
export function notRun(error: unknown): RequestResult {
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
