import type { OutputItem, Run } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { failureOf } from '../core/failure.ts';
import { fieldText } from '../core/json-value.ts';
import type { Budget } from '../creation/budget.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { withPaths } from '../outputs/results.ts';
import type { BatchOptions } from './options.ts';
import type { PreparedBatch } from './prepare.ts';
import type { ReportEnd } from './progress/reporter.ts';
import type { Tally } from './progress/tally.ts';
import { inputsOf, lineOf, type Results, type ResultsLine } from './results/results-line.ts';
import type { SourceRow } from './rows/row.ts';
import { errorText, type JobOutcome, type RunFacts } from './run/job.ts';
import type { BatchJournal } from './run/job-journal.ts';
import type { Stop } from './run/stop.ts';

export interface FinishParts {
  readonly ctx: Context;
  readonly budget: Budget;
  readonly batch: PreparedBatch;
  readonly options: BatchOptions;
  readonly journal: BatchJournal;
  readonly results: Results;
  readonly tally: Tally;
  readonly report: ReportEnd;
  readonly stop: Stop;
}

/** Saves, keeps, gives, counts and reports what became of a row. */
export async function finishRow(parts: FinishParts, row: SourceRow, outcome: JobOutcome): Promise<void> {
  const { tally, report } = parts;
  const known = outcome.kind === 'ended' ? await judgeRun(parts, outcome) : outcome;
  switch (known.kind) {
    case 'ended':
    case 'failed':
      await giveLine(parts, row, known);
      tally.now[known.kind === 'ended' && known.error === undefined ? 'succeeded' : 'failed'] += 1;
      if (known.kind === 'failed' && failureOf(known.error).exitCode === EXIT.usage) tally.faulty += 1;
      break;
    case 'in doubt':
      await parts.journal.candidates(row, known.candidates);
      tally.now['in doubt'] += 1;
      break;
    case 'going on':
      tally.now['going on'] += 1;
      break;
    case 'dropped':
      if (known.inDoubt) tally.now['in doubt'] += 1;
      break;
    case 'put off':
      break;
  }
  report(row, known);
}

/** The journal is written first: a result that is there has its row's end in the journal. */
async function giveLine(
  { options, journal, results, stop, budget }: FinishParts,
  row: SourceRow,
  outcome: Extract<JobOutcome, { kind: 'ended' | 'failed' }>,
): Promise<void> {
  const { request } = outcome.facts;
  const ended = lineOf(row, outcome, budget);
  const known = [
    ...(results.states.get(row.id)?.runs ?? []).map(({ runId }) => runId),
    ...(journal.states.get(row.id)?.runIds ?? []),
  ];
  const earlierRunIds = [...new Set(known)].filter(runId => runId !== ended.runId);
  const line: ResultsLine = {
    ...ended,
    ...(earlierRunIds.length > 0 && { earlierRunIds }),
    ...(options.withInputs && request !== undefined && { inputs: inputsOf(request) }),
  };
  const { runId, error } = line;
  await journal.ended(row, {
    step: line.runStatus === 'succeeded' ? 'succeeded' : 'failed',
    runId,
    error,
    ...(outcome.kind === 'failed' && outcome.mayHaveRun && { mayHaveRun: true }),
    ...(results.keptOf !== undefined && { result: results.keptOf(line, row) }),
  });
  if (!(await results.give(line, row))) stop.readerHasGone();
}

type Ended = Extract<JobOutcome, { kind: 'ended' }>;

/** Whatever goes wrong with the files, the run is paid for and its outputs are given. */
async function judgeRun(parts: FinishParts, outcome: Ended): Promise<Ended> {
  const { run, notSaved } = await savedRun(parts, outcome.run, outcome.facts);
  const { recovered } = outcome.run;
  const marked = { ...run, ...(recovered && { recovered }) };
  const error = run.runStatus === 'failed' ? runFailed(run) : notSaved;
  return { ...outcome, run: marked, ...(error !== undefined && { error }) };
}

function runFailed({ outputs }: Run): CliError {
  const errors = outputs
    .filter(({ type }) => type === 'error')
    .map((item: OutputItem) => fieldText(item.data));
  return new CliError(errors.join('; ') || 'the run failed', {
    status: 'RUN_FAILED',
    exitCode: EXIT.runFailed,
  });
}

async function savedRun(
  { ctx, batch: { connection, promptVersionId }, options: { saveTo, force } }: FinishParts,
  run: Run,
  { request, sentAt: startedAt, endedAt }: RunFacts,
): Promise<{ run: Run; notSaved?: CliError }> {
  if (saveTo === undefined) return { run: withPaths(run) };
  const { saveOutputs } = await import('../outputs/save.ts');
  const facts = {
    promptVersionId,
    ...(request !== undefined && { request }),
    ...(startedAt !== undefined && { startedAt, endedAt }),
  };
  try {
    const { paths, failures } = await saveOutputs(ctx, connection, run, { directory: saveTo, force, facts });
    const saved = withPaths(run, paths);
    return failures.length === 0
      ? { run: saved }
      : { run: saved, notSaved: saveFault(failures.map(({ message }) => message).join('; ')) };
  } catch (error) {
    return { run: withPaths(run), notSaved: saveFault(errorText(error)) };
  }
}

function saveFault(reason: string): CliError {
  return new CliError(`the run succeeded, its outputs were not all saved: ${reason}`, {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}
