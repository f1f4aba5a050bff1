import type { Run } from '../../../wire/index.ts';
import type { JobPlan } from '../../batch/run/job.ts';
import { settleDoubts } from '../../batch/run/settle-doubts.ts';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import { fieldText } from '../../core/json-value.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { type CheckMeans, checkExpectation } from '../expectations/check-expectation.ts';
import type { Judge, Mismatch } from '../expectations/read-expectations.ts';
import { type EntryResult, type Repetition, resultOf } from '../result.ts';
import type { PreparedEntry } from './prepare-entries.ts';
import { type RequestJob, type RequestResult, runRequests } from './run-requests.ts';
import type { TestState } from './test-state.ts';

export interface RunEntriesOptions {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly judge: Judge;
  readonly state: TestState;
}

/** One repetition of an entry. */
interface RepetitionJob extends RequestJob {
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
  const { concurrency, judge, state } = options;
  const repetitions = new Map<string, Repetition>();
  const means = { judge, checks: await ctx.checks() };
  const keep = async (job: RequestJob, result: RequestResult): Promise<void> => {
    const { prepared, id } = job as RepetitionJob;
    if (result.run !== undefined) {
      await state.ended(id, { run: result.run, seconds: result.seconds });
    }
    repetitions.set(id, await repetitionOf(prepared, result, means));
  };
  const toRun: RepetitionJob[] = [];
  for (const job of await plannedJobs(ctx, connection, entries, state)) {
    const before = state.before(job.id);
    if (before?.ended !== undefined) {
      await keep(job, before.ended);
    } else if (job.error !== undefined) {
      await keep(job, { run: undefined, seconds: 0, error: job.error });
    } else {
      toRun.push(job);
    }
  }
  await runRequests(ctx, connection, toRun, { concurrency, journal: state, onResult: keep });
  return finished(entries, repetitions, state);
}

async function finished(
  entries: readonly PreparedEntry[],
  repetitions: ReadonlyMap<string, Repetition>,
  state: TestState,
): Promise<EntryResult[]> {
  const results: EntryResult[] = [];
  for (const prepared of entries) {
    const own = jobIds(prepared).flatMap(id => repetitions.get(id) ?? []);
    const result = resultOf(prepared.entry, own);
    await state.finished(prepared, result.status);
    results.push(result);
  }
  return results;
}

function jobIds({ entry, key, firstRepetition }: PreparedEntry): string[] {
  return Array.from({ length: entry.testCase.repeat }, (_, at) => `${key}-${firstRepetition + at}`);
}

/** A repetition with what is to be done for it; an error where it may have made a run, and it is not known which. */
interface PlannedRepetition extends RepetitionJob {
  readonly error?: unknown;
}

/** What an interrupted test has paid for, or may have, is never run again: what is known of it is taken up. */
async function plannedJobs(
  ctx: Context,
  connection: Connection,
  entries: readonly PreparedEntry[],
  state: TestState,
): Promise<PlannedRepetition[]> {
  const jobs = entries.flatMap(prepared =>
    jobIds(prepared).map((id, at) => ({
      id,
      prepared,
      request: { ...prepared.request, repetition: prepared.firstRepetition + at },
    })),
  );
  const doubts = jobs.flatMap(({ id }) => {
    const { entry, runId } = state.before(id) ?? {};
    return entry === undefined || runId !== undefined ? [] : [{ id, entry }];
  });
  const settlements = await settleDoubts(
    ctx,
    connection,
    doubts.map(({ entry }) => entry),
    { signal: ctx.signal },
  );
  const plans = new Map<string, JobPlan | CreationInDoubt>();
  for (const [at, { id, entry }] of doubts.entries()) {
    const settled = settlements[at];
    if (settled?.kind === 'repeat') {
      plans.set(id, { kind: 'repeat', entry });
    } else if (settled?.kind === 'wait') {
      plans.set(id, { kind: 'wait', runId: settled.runId, recovered: true });
    } else if (settled?.kind !== 'none') {
      plans.set(
        id,
        new CreationInDoubt(
          new Error('the test was interrupted'),
          settled?.candidates ?? [],
          entry,
          connection,
        ),
      );
    }
  }
  return jobs.map(job => {
    const runId = state.before(job.id)?.runId;
    const plan =
      runId === undefined ? plans.get(job.id) : ({ kind: 'wait', runId, recovered: false } as const);
    return plan instanceof CreationInDoubt ? { ...job, error: plan } : { ...job, ...(plan && { plan }) };
  });
}

/** Checks what came back; whatever goes wrong with that is a fault of this repetition alone. */
async function repetitionOf(
  { entry: { testCase } }: PreparedEntry,
  result: RequestResult,
  means: CheckMeans,
): Promise<Repetition> {
  const { run, seconds } = result;
  if (run === undefined) {
    return { run, seconds, mismatches: [], fault: failureOf(result.error) };
  }
  const answer = { text: textOfOutputs(run.outputs), seconds };
  const mismatches: Mismatch[] = failedRun(run, testCase.line);
  try {
    for (const expectation of run.runStatus === 'failed' ? [] : testCase.expect) {
      const mismatch = await checkExpectation(expectation, answer, means);
      mismatches.push(...(mismatch === undefined ? [] : [mismatch]));
    }
    return { run, seconds, mismatches, fault: undefined };
  } catch (error) {
    return { run, seconds, mismatches, fault: failureOf(error) };
  }
}

/** A run that failed is something that did not come as expected, not something that could not be run. */
function failedRun({ runStatus, outputs }: Run, line: number): Mismatch[] {
  if (runStatus !== 'failed') {
    return [];
  }
  const errors = outputs.filter(({ type }) => type === 'error').map(({ data }) => fieldText(data));
  return [{ line, message: `the run failed${errors.length > 0 ? `: ${errors.join('; ')}` : ''}` }];
}
