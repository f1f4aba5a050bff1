import type { OutputItem, Run } from '../../wire/index.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { fieldText } from '../outputs/field-text.ts';
import { endedLine, goingLine, lostLine, type ResultsLine, runlessLine, UNKNOWN } from './results-line.ts';
import type { ReadableRow, RowPlace } from './row.ts';
import { errorText, maySendAgain, runIdOf, verdictOn } from './row-fault.ts';
import { createRow, keepWaiting, type RowFacts, type RowWork, waitForRow } from './run-row.ts';
import { type SaveOptions, type SaveTo, savedRun } from './saved-run.ts';
import type { RowEnd } from './tally.ts';

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
export async function doRow(
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
    await keepWaiting(work, row, facts);
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
