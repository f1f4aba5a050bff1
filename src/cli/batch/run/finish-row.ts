import type { OutputItem, Run } from '../../../wire/index.ts';
import { fieldText } from '../../core/json-value.ts';
import { CliError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { withPaths } from '../../outputs/results.ts';
import type { BatchOptions } from '../options.ts';
import type { RowEnd } from '../progress/tally.ts';
import {
  endedLine,
  goingLine,
  lostLine,
  type ResultsLine,
  runlessLine,
  UNKNOWN,
} from '../results/results-line.ts';
import type { ReadableRow, RowPlace } from '../rows/row.ts';
import { errorText, maySendAgain, runIdOf, verdictOn } from './row-fault.ts';
import { createRow, type RowFacts, type RowWork, resumeWaiting, waitForRow } from './run-row.ts';

/** What became of a row. */
export type RowOutcome =
  | { readonly kind: 'ended'; readonly end: RowEnd; readonly line: ResultsLine; readonly error?: unknown }
  /** It has no run yet, for a reason that is not its own. */
  | { readonly kind: 'put off'; readonly error: unknown }
  /** The batch was told to let go of it. */
  | { readonly kind: 'dropped' };

/** A row and what is planned for it. */
export type RowJob =
  | { readonly kind: 'create'; readonly row: ReadableRow }
  | { readonly kind: 'wait'; readonly row: RowPlace; readonly runId: string };

/** Does what is planned for a row, to its end. @throws only what no other row could go on after */
export async function processRow(
  work: RowWork,
  job: RowJob,
  options: { readonly save: SaveTo | undefined; readonly onCreated: () => void },
): Promise<RowOutcome> {
  const facts: RowFacts = { runId: undefined, sent: false, request: undefined };
  const startedAt = work.ctx.clock.now();
  try {
    if (job.kind === 'wait') {
      facts.runId = job.runId;
      options.onCreated();
      return await ended(work, job.row, await waitForRow(work, job.runId), { ...options, facts });
    }
    const run = await createRow(work, job.row, facts, options.onCreated);
    return await ended(work, job.row, run, { ...options, facts, startedAt });
  } catch (error) {
    return afterFault(work, job.row, facts, error);
  }
}

async function ended(work: RowWork, row: RowPlace, run: Run, options: SaveOptions): Promise<RowOutcome> {
  const { run: saved, notSaved } = await savedRun(work, run, options);
  if (run.runStatus === 'failed') {
    const error = runFailed(run);
    return { kind: 'ended', end: 'failed', line: endedLine(row, saved, error.message), error };
  }
  if (notSaved !== undefined) {
    return { kind: 'ended', end: 'failed', line: endedLine(row, saved, notSaved.message), error: notSaved };
  }
  return { kind: 'ended', end: 'succeeded', line: endedLine(row, saved, null) };
}

function runFailed({ outputs }: Run): CliError {
  const told = outputs.filter(({ type }) => type === 'error').map((item: OutputItem) => fieldText(item.data));
  return new CliError(told.join('; ') || 'the run failed', {
    status: 'RUN_FAILED',
    exitCode: EXIT.runFailed,
  });
}

async function afterFault(
  work: RowWork,
  row: RowPlace,
  facts: RowFacts,
  error: unknown,
): Promise<RowOutcome> {
  if (work.ctx.signal.aborted) {
    return { kind: 'dropped' };
  }
  facts.runId ??= runIdOf(error);
  const isPutOff = maySendAgain(error) && facts.runId === undefined && work.isStopping();
  const verdict = isPutOff ? 'put off' : verdictOn(error, facts);
  if (verdict === 'fatal') {
    throw error;
  }
  if (verdict === 'put off') {
    await resumeWaiting(work, row, facts);
    return { kind: 'put off', error };
  }
  return {
    kind: 'ended',
    error,
    ...endOf(verdict, row, facts, errorText(error, facts.sent ? undefined : row)),
  };
}

function endOf(
  verdict: 'failed' | 'in doubt' | 'going on',
  row: RowPlace,
  { runId }: RowFacts,
  error: string,
): { end: RowEnd; line: ResultsLine } {
  if (runId !== undefined) {
    return verdict === 'failed'
      ? { end: 'failed', line: lostLine(row, runId, error) }
      : { end: 'going on', line: goingLine(row, runId, error) };
  }
  return verdict === 'in doubt'
    ? { end: 'in doubt', line: runlessLine(row, UNKNOWN, error) }
    : { end: 'failed', line: runlessLine(row, 'failed', error) };
}

/** Where outputs are written. */
export interface SaveTo {
  readonly directory: string;
  readonly force: boolean;
}

export function saveToOf({ saveTo, force }: BatchOptions): SaveTo | undefined {
  return saveTo === undefined ? undefined : { directory: saveTo, force };
}

export interface SaveOptions {
  readonly save: SaveTo | undefined;
  readonly facts: RowFacts;
  readonly startedAt?: number;
}

/** Whatever goes wrong with the files, the run is paid for and its outputs are told. */
export async function savedRun(
  { ctx, batch: { connection, promptVersionId } }: RowWork,
  run: Run,
  { save: to, facts: { request }, startedAt }: SaveOptions,
): Promise<{ run: Run; notSaved?: CliError }> {
  if (to === undefined) {
    return { run };
  }
  const { saveOutputs } = await import('../../outputs/save.ts');
  const facts = {
    promptVersionId,
    ...(request !== undefined && { request }),
    ...(startedAt !== undefined && { startedAt, endedAt: ctx.clock.now() }),
  };
  try {
    const { paths, failures } = await saveOutputs(ctx, connection, run, { ...to, facts });
    const saved = withPaths(run, paths);
    return failures.length === 0
      ? { run: saved }
      : { run: saved, notSaved: saveFault(failures.map(({ message }) => message).join('; ')) };
  } catch (error) {
    return { run, notSaved: saveFault(errorText(error)) };
  }
}

function saveFault(reason: string): CliError {
  return new CliError(`the run succeeded, its outputs were not all saved: ${reason}`, {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}
