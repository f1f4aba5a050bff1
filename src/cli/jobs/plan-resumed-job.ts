import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Run } from '../../wire/index.ts';
import type { Connection } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { CreationInDoubtError } from '../creation/in-doubt.ts';
import type { Job, JobPlan } from './job.ts';
import { parseError } from './job-errors.ts';
import type { JobState } from './read-journal.ts';
import type { RecalledJobs } from './recall-jobs.ts';
import { type RequestResult, toNotRunResult } from './run-requests.ts';
import type { Settlement } from './settle-doubts.ts';

/** Flags that run jobs of an earlier invocation again. */
export interface RetryFlags {
  /** True to create jobs again that may have made a run. */
  readonly retryUnknown: boolean;
  /** True to create jobs again whose runs failed. Default false. */
  readonly retryFailed?: boolean;
}

/** The next action for a job of a resumed command. */
export type ResumedJobPlan =
  | JobPlan
  /** Report the result of an earlier invocation, or why the job is not run. */
  | { readonly kind: 'report'; readonly result: RequestResult };

/** Plans a job. Never runs one again unasked if it was or may have been paid for. */
export function planResumedJob(
  { id, isQuestion = false, expectedCreation }: Job,
  { states, settlements }: RecalledJobs,
  connection: Connection,
  { retryUnknown, retryFailed = false }: RetryFlags,
): ResumedJobPlan {
  const state = states.get(id);
  if (state === undefined || state.step === 'waiting' || !isOwnCreation(state, expectedCreation)) {
    return { kind: 'create' };
  }

  const endedResult = parseEndedResult(state.result);
  if (endedResult !== undefined) {
    const isRetried = retryFailed || (retryUnknown && isQuestion);
    return isRetried && endedResult.run?.runStatus === 'failed'
      ? { kind: 'create' }
      : { kind: 'report', result: endedResult };
  }

  if (state.runId !== undefined) {
    return { kind: 'wait', runId: state.runId, recovered: state.recovered };
  }

  if (state.step === 'creating') {
    return planUnanswered(state.entry, settlements.get(id), connection, { retryUnknown });
  }

  return !state.mayHaveRun || retryUnknown
    ? { kind: 'create' }
    : { kind: 'report', result: toNotRunResult(mayHaveRunError(state)) };
}

/**
 * Returns the plan for a job whose creation was sent, or about to be, when the earlier invocation
 * ended.
 */
function planUnanswered(
  entry: JobState['entry'],
  settlement: Settlement | undefined,
  connection: Connection,
  { retryUnknown }: Pick<RetryFlags, 'retryUnknown'>,
): ResumedJobPlan {
  if (entry === undefined || settlement?.kind === 'none') return { kind: 'create' };
  if (settlement?.kind === 'repeat') return { kind: 'repeat', entry };

  if (settlement?.kind === 'wait') {
    return { kind: 'wait', runId: settlement.runId, recovered: true };
  }

  if (retryUnknown) return { kind: 'create' };

  const cause = new Error(`the creation of ${entry.time} was never answered`);
  const error = new CreationInDoubtError(cause, settlement?.candidates, entry, connection);
  return { kind: 'report', result: { ...toNotRunResult(error), isInDoubt: true } };
}

/** Returns true for the state of the job's own creation. */
function isOwnCreation({ entry }: JobState, expectedCreation: Job['expectedCreation']): boolean {
  if (expectedCreation === undefined) return true;
  const { promptVersionId, inputsDigest } = expectedCreation;
  return entry?.promptVersionId === promptVersionId && entry.inputsDigest === inputsDigest;
}

function mayHaveRunError({ error }: JobState): CliError {
  const { message } = parseError(error ?? 'the run could not be created');
  return new CliError(message, {
    status: 'SERVER_ERROR',
    exitCode: EXIT.fault,
    hints: ['It may have created a run anyway. To run it again, add --resume --retry-unknown.'],
  });
}

/** Returns the result in the journal of a job that ended with a run. */
export function parseEndedResult(value: unknown): RequestResult | undefined {
  if (!isJsonObject(value) || !isJsonObject(value['run'])) return undefined;
  const { run, seconds } = value;
  if (typeof seconds !== 'number' && seconds !== null) return undefined;
  return { run: run as unknown as Run, seconds, fault: undefined };
}
