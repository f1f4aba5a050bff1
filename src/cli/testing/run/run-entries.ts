import type { Run } from '../../../wire/index.ts';
import { errorText, type JobOutcome, type JobPlan } from '../../batch/run/job.ts';
import type { JobState } from '../../batch/run/read-journal.ts';
import { type KnownJobs, recallJobs, spentBefore } from '../../batch/run/recall-jobs.ts';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { countOf, fieldText } from '../../core/json-value.ts';
import type { Budget } from '../../creation/budget.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import type { EarlierRun } from '../../creation/spending.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import {
  type Answer,
  checkExpectation,
  type ExpectationTools,
  type Mismatch,
} from '../expectations/expectation.ts';
import { type EntryResult, type Repetition, resultOf } from '../result.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import { type RequestJob, type RequestResult, runRequests } from './run-requests.ts';
import { type EndedRepetition, endedRepetition, type TestState } from './test-state.ts';

export interface RunEntriesOptions {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly budget: Budget;
  readonly state: TestState;
  /** Whether what is known of an earlier test is gone on with. */
  readonly resume: boolean;
  /** Whether what may have made a run is created again. */
  readonly retryUnknown: boolean;
  /** What expectations of an entry need. */
  readonly tools: (entry: PreparedEntry, run: Run) => ExpectationTools & Pick<Answer, 'dollars'>;
}

/** One repetition of an entry. */
interface RepetitionJob extends RequestJob {
  readonly row: number;
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
  const { concurrency, state, budget } = options;
  const { journal } = state;
  const jobs = entries.flatMap(repetitionJobs).map((job, at) => ({ ...job, row: at + 1 }));
  if (!options.resume) await state.forget(new Set(jobs.map(({ id }) => id)));
  const known = await recallJobs(ctx, connection, journal, { changed: new Set() });
  await journal.begin({ service: connection.service, promptVersionId: '', options: {} }, time(ctx));
  if (options.resume) {
    const { runs, lost } = spentBefore(known);
    budget.resume(connection, [...runsBefore(journal), ...runs], lost);
    const { extraRunIds, extraCreations } = journal;
    if (extraRunIds.size + extraCreations.size > 0) {
      const judged = [...extraRunIds].map(runId => ({ runId }));
      budget.resume(await ctx.localConnection(), judged, extraCreations);
    }
  }
  const repetitions = new Map<string, Repetition>();
  const check = async ({ id, prepared }: RepetitionJob, result: RequestResult): Promise<void> => {
    repetitions.set(id, await repetitionOf(prepared, result, options));
  };
  const toRun: RepetitionJob[] = [];
  for (const job of jobs) {
    const { fault } = job.prepared.entry.testCase;
    const plan = fault ? { error: fault } : planOf(job.id, known, connection, options);
    if ('error' in plan) await check(job, { run: undefined, seconds: 0, error: plan.error });
    else if ('ended' in plan) await check(job, plan.ended);
    else toRun.push({ ...job, plan });
  }
  await runRequests(ctx, connection, toRun, {
    concurrency,
    budget,
    journal,
    onResult: async (job, result, outcome) => {
      await keep(journal, job as RepetitionJob, result, outcome);
      await check(job as RepetitionJob, result);
    },
  });
  return finished(entries, repetitions, state);
}

/** Runs that were made before, those of repetitions that have ended with their service tokens. */
function runsBefore({ states }: TestState['journal']): EarlierRun[] {
  return [...states.values()].flatMap(({ entry, result }): EarlierRun[] => {
    const run = endedRepetition(result)?.run;
    if (run === undefined) return [];
    return [{ runId: run.runId, tokens: countOf(run.tokens), promptVersionId: entry?.promptVersionId }];
  });
}

function time({ clock }: Context): string {
  return new Date(clock.now()).toISOString();
}

/** Writes how a repetition ended; a paid run is never made again when the test is resumed. */
async function keep(
  journal: TestState['journal'],
  job: RepetitionJob,
  result: RequestResult,
  outcome: JobOutcome,
): Promise<void> {
  if (result.run !== undefined) {
    const { runId, runStatus } = result.run;
    const step = runStatus === 'succeeded' ? 'succeeded' : 'failed';
    await journal.ended(job, { step, runId, error: null, result });
  } else if (outcome.kind === 'failed') {
    const { runId = null, mayHaveRun, error } = outcome;
    await journal.ended(job, { step: 'failed', runId, error: errorText(error), mayHaveRun });
  } else if (outcome.kind === 'in doubt') {
    await journal.candidates(
      job,
      outcome.candidates.map(({ runId }) => runId),
    );
  }
}

async function finished(
  entries: readonly PreparedEntry[],
  repetitions: ReadonlyMap<string, Repetition>,
  state: TestState,
): Promise<EntryResult[]> {
  const results: EntryResult[] = [];
  for (const prepared of entries) {
    const own = repetitionJobs(prepared).flatMap(({ id }) => repetitions.get(id) ?? []);
    const result = resultOf(prepared.entry, own);
    await state.finished(prepared, result.status);
    results.push(result);
  }
  return results;
}

function repetitionJobs(prepared: PreparedEntry): Omit<RepetitionJob, 'row'>[] {
  const { entry, key, firstRepetition, request } = prepared;
  return Array.from({ length: entry.testCase.repeat }, (_, at) => ({
    id: `${key}-${firstRepetition + at}`,
    prepared,
    request: { ...request, repetition: firstRepetition + at },
  }));
}

/** What is done for a repetition; nothing if it has ended, or must not be created again. */
type RepetitionPlan = JobPlan | { readonly ended: EndedRepetition } | { readonly error: unknown };

/** What a test has paid for, or may have, is never run again unasked: what is known of it is taken up. */
function planOf(
  id: string,
  { states, settlements }: KnownJobs,
  connection: Connection,
  { retryUnknown }: Pick<RunEntriesOptions, 'retryUnknown'>,
): RepetitionPlan {
  const state = states.get(id);
  if (state === undefined || state.step === 'waiting') return { kind: 'create' };
  const ended = endedRepetition(state.result);
  if (ended !== undefined) return { ended };
  if (state.runId !== undefined) return { kind: 'wait', runId: state.runId, recovered: state.recovered };
  if (state.step !== 'creating')
    return !state.mayHaveRun || retryUnknown ? { kind: 'create' } : faultOf(state);
  const settlement = settlements.get(id);
  if (state.entry === undefined || settlement?.kind === 'none') return { kind: 'create' };
  if (settlement?.kind === 'repeat') return { kind: 'repeat', entry: state.entry };
  if (settlement?.kind === 'wait') return { kind: 'wait', runId: settlement.runId, recovered: true };
  if (retryUnknown) return { kind: 'create' };
  const cause = new Error('the test was interrupted');
  return { error: new CreationInDoubt(cause, settlement?.candidates ?? [], state.entry, connection) };
}

function faultOf({ error }: JobState): { readonly error: CliError } {
  const message = (error ?? 'the run could not be created').replace(/ \(\w+\)$/u, '');
  return {
    error: new CliError(message, {
      status: 'SERVER_ERROR',
      exitCode: EXIT.fault,
      hints: ['It may have made a run all the same. Run it again with --resume --retry-unknown.'],
    }),
  };
}

/** Checks what came back; whatever goes wrong with that is a fault of this repetition alone. */
async function repetitionOf(
  prepared: PreparedEntry,
  result: RequestResult,
  { tools }: Pick<RunEntriesOptions, 'tools'>,
): Promise<Repetition> {
  const { run, seconds } = result;
  if (run === undefined) return { run, seconds, mismatches: [], fault: failureOf(result.error) };
  const { testCase } = prepared.entry;
  const own = tools(prepared, run);
  const text = textOfOutputs(run.outputs);
  const answer = {
    text: testCase.trims ? text.trim() : text,
    seconds,
    tokens: run.tokens,
    dollars: own.dollars,
  };
  const mismatches: Mismatch[] = failedRun(run, testCase.line);
  try {
    for (const expectation of run.runStatus === 'failed' ? [] : testCase.expect) {
      const mismatch = await checkExpectation(expectation, answer, own);
      mismatches.push(...(mismatch === undefined ? [] : [mismatch]));
    }
    return { run, seconds, mismatches, fault: undefined };
  } catch (error) {
    return { run, seconds, mismatches, fault: failureOf(error) };
  }
}

/** A run that failed is something that did not come as expected, not something that could not be run. */
function failedRun({ runStatus, outputs }: Run, line: number): Mismatch[] {
  if (runStatus !== 'failed') return [];
  const errors = outputs.filter(({ type }) => type === 'error').map(({ data }) => fieldText(data));
  return [{ line, at: -1, message: `the run failed${errors.length > 0 ? `: ${errors.join('; ')}` : ''}` }];
}
