import path from 'node:path';
import { countUp } from '../../../utils/count-up.ts';
import type { Context } from '../../context.ts';
import { CliError, withResumeHint } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { type Failure, toFailure } from '../../core/failure.ts';
import { pluralize } from '../../core/pluralize.ts';
import { Budget } from '../../creation/spending/budget.ts';
import { type Caps, formatResumeHint } from '../../creation/spending/caps.ts';
import { computeRequestDigest } from '../../inputs/request-body.ts';
import type { SourceFlags } from '../../inputs/rows/row-source.ts';
import type { Job } from '../../jobs/job.ts';
import { createPacedConnection, getConcurrency } from '../../jobs/paced-connection.ts';
import { ResumableRequests, type ResumeOptions } from '../../jobs/resumable-requests.ts';
import { withResumeJournal } from '../../jobs/resume-journal.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';
import { StopControl } from '../../jobs/stop-control.ts';
import { buildJudgePrompt, parseRubricVerdict } from '../../testing/expectations/judged-kinds.ts';
import { getJudgeReply, Judge } from '../../testing/judging/judge.ts';
import type { JudgedRow } from './agreement.ts';
import { type LabelledRow, readLabelledRows } from './labelled-rows.ts';

export interface JudgeCheckOptions extends ResumeOptions {
  readonly source: SourceFlags;
  readonly rubric: string | undefined;
  readonly judge: string | undefined;
  readonly repeat: number;
  readonly caps: Caps;
  readonly concurrency: number | undefined;
  readonly rate: number | undefined;
}

export interface JudgeCheck {
  /** The rows for which every question was answered. */
  readonly judgedRows: readonly JudgedRow[];
  /** The faults of the other rows, in order. */
  readonly faults: readonly { readonly id: string; readonly fault: Failure }[];
  readonly budget: Budget;
}

interface QuestionJob extends Job {
  readonly labelledRow: LabelledRow;
}

/**
 * Asks a judge about each labelled answer, as often as `repeat` says.
 *
 * @throws {CliError} USAGE_ERROR if the labels can't be read, or the judge doesn't exist
 */
export async function judgeLabelledRows(
  ctx: Context,
  options: JudgeCheckOptions,
): Promise<JudgeCheck> {
  const { source, repeat } = options;
  const budget = new Budget(ctx, options.caps);
  const judge = new Judge(ctx, options.judge, budget);
  await judge.checkModel({});
  const rows = await readLabelledRows(ctx, source, options.rubric);

  const connection = createPacedConnection(ctx, await ctx.localConnection(), options.rate);
  budget.checkCostCap(connection);
  await judge.checkPrice({});
  if (options.providerBatch) await judge.checkBatch({});

  const jobs = await createJobs(judge, rows, repeat);
  const results = new Map<string, RequestResult>();
  const labelsPath = source.from === '-' ? '-' : path.resolve(ctx.cwd, source.from);
  const journalName = { kind: 'judges', names: [labelsPath, options.judge ?? ''] } as const;
  await withResumeJournal(ctx, journalName, connection, async journal => {
    const requests = await ResumableRequests.open(ctx, connection, () => true, {
      ...options,
      concurrency: getConcurrency(connection, options.concurrency),
      budget,
      journal,
      stop: new StopControl(),
    });
    await requests.run(jobs, async ({ id }, result) => void results.set(id, result));
  }).catch((error: unknown) => {
    throw withResumeHint(error);
  });
  await budget.readTotals({ readsList: true });

  return { ...collectVerdicts(rows, jobs, results), budget };
}

/** Returns the jobs that ask each question `repeat` times. Equal questions are numbered. */
async function createJobs(
  judge: Judge,
  rows: readonly LabelledRow[],
  repeat: number,
): Promise<QuestionJob[]> {
  const repetitionCounts = new Map<string, number>();
  const jobs: QuestionJob[] = [];
  for (const labelledRow of rows) {
    const { request, estimatedCredits } = await judge.prepareQuestion({
      prompt: buildJudgePrompt(labelledRow.rubric, labelledRow.output),
    });
    const digest = computeRequestDigest(request);
    for (let count = 0; count < repeat; count += 1) {
      const repetition = countUp(repetitionCounts, digest);
      jobs.push({
        id: `${request.promptVersionId}-${digest}-${repetition}`,
        row: jobs.length + 1,
        estimatedCredits,
        labelledRow,
        isQuestion: true,
        buildRequest: async () => ({ ...request, repetition }),
      });
    }
  }

  return jobs;
}

function collectVerdicts(
  rows: readonly LabelledRow[],
  jobs: readonly QuestionJob[],
  results: ReadonlyMap<string, RequestResult>,
): Pick<JudgeCheck, 'judgedRows' | 'faults'> {
  const judgedRows: JudgedRow[] = [];
  const faults: { id: string; fault: Failure }[] = [];
  for (const labelledRow of rows) {
    const jobsOfRow = jobs.filter(job => job.labelledRow === labelledRow);
    try {
      judgedRows.push({
        ...labelledRow,
        verdicts: jobsOfRow.map(({ id }) => requireVerdict(results.get(id))),
      });
    } catch (error) {
      faults.push({ id: labelledRow.id, fault: toFailure(error) });
    }
  }

  return { judgedRows, faults };
}

/** Returns the verdict of an answered question. @throws the fault of one that was not answered */
function requireVerdict(result: RequestResult | undefined): ReturnType<typeof parseRubricVerdict> {
  if (result?.run) return parseRubricVerdict(getJudgeReply(result.run));
  const { fault } = result ?? {};
  throw fault ? new CliError(fault.message, fault) : new Error('a question was not answered');
}

/**
 * Returns the error of a check with faults: a timeout if there is one, else a reached cap, else the
 * first fault. Undefined without faults.
 */
export function findWorstFault({ faults }: JudgeCheck): CliError | undefined {
  const firstFault = faults[0]?.fault;
  if (firstFault === undefined) return undefined;

  const findByExitCode = (code: number) =>
    faults.find(({ fault }) => fault.exitCode === code)?.fault;
  const { message, ...fault } =
    findByExitCode(EXIT.waitTimeout) ?? findByExitCode(EXIT.capReached) ?? firstFault;
  const hints =
    fault.exitCode === EXIT.capReached ? [formatResumeHint({ data: fault.data })] : fault.hints;

  return new CliError(`${message}; ${pluralize(faults.length, 'row')} not judged`, {
    ...fault,
    hints,
  });
}
