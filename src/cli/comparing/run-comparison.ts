import type { Connection, Context } from '../context.ts';
import { withResumeHint } from '../core/errors.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { computeRequestDigest, type RunRequest } from '../inputs/request-body.ts';
import type { Job, JobPlan } from '../jobs/job.ts';
import { getConcurrency } from '../jobs/paced-connection.ts';
import type { ResumableRequests, ResumeOptions } from '../jobs/resumable-requests.ts';
import { type RequestResult, runRequests } from '../jobs/run-requests.ts';
import { StopControl } from '../jobs/stop-control.ts';
import { fetchRunMedia } from '../outputs/media-content.ts';
import { withSpinner } from '../terminal/spinner.ts';
import type { CheckedRow } from './checked-rows.ts';
import type { ComparedRow, ComparedRowJudgement, VariantResult } from './compared-row.ts';
import { withJournals } from './comparison-journals.ts';
import type { Variant } from './create-variants.ts';
import { judgeRows } from './judge-rows.ts';
import type { PreparedComparison } from './prepare-comparison.ts';

interface RunComparisonOptions extends Omit<ResumeOptions, 'providerBatch'> {
  /** True to keep images for a page. */
  readonly keepMedia: boolean;
}

interface ComparisonResult {
  readonly comparedRows: readonly ComparedRow[];
  /** The judgements by row number; undefined without `--expect`. */
  readonly judgements: ReadonlyMap<number, ComparedRowJudgement> | undefined;
}

/** Runs every row with every variant, then judges the answers. @throws {CliError} INTERRUPTED */
export async function runComparison(
  ctx: Context,
  prepared: PreparedComparison,
  { keepMedia, ...resumeOptions }: RunComparisonOptions,
): Promise<ComparisonResult> {
  const {
    variants,
    rows,
    expectedCases,
    judgedExpectations,
    judge,
    budget,
    concurrency,
    providerBatch,
    names,
  } = prepared;
  const judgeConnection =
    judgedExpectations.length === 0 ? undefined : await ctx.localConnection('the judge');
  const runAndJudge = async (
    requestsByService: ReadonlyMap<string, ResumableRequests>,
  ): Promise<ComparisonResult> => {
    const comparedRows = await runVariants(ctx, rows, variants, {
      concurrency,
      budget,
      keepMedia,
      requestsByService,
    });

    const questions = judgeConnection && requestsByService.get(judgeConnection.serviceName);
    const judgements =
      expectedCases &&
      (await judgeRows(ctx, comparedRows, expectedCases, { variants, judge, budget, questions }));
    return { comparedRows, judgements };
  };

  if (ctx.isReplay) return await runAndJudge(new Map());

  const connections = variants.map(({ connection }) => connection);
  if (judgeConnection !== undefined) connections.push(judgeConnection);
  const comparison = { ...resumeOptions, providerBatch, names, connections, budget, concurrency };
  return await withJournals(ctx, comparison, runAndJudge).catch((error: unknown) => {
    throw withResumeHint(error, listRetryHints(connections));
  });
}

/** Returns the hint about runs of the embedded service, which stop with the command. */
function listRetryHints(connections: readonly Connection[]): readonly string[] {
  return connections.some(({ isEmbedded }) => isEmbedded)
    ? ['Runs that were stopped have failed; --resume --retry-failed makes them again.']
    : [];
}

interface RunVariantsOptions {
  /** Maximum number of open creations at each service; undefined for the service's default. */
  readonly concurrency: number | undefined;
  readonly budget: Budget;
  readonly keepMedia: boolean;
  /** The requests with a journal, by service; empty if they are answered from recordings. */
  readonly requestsByService: ReadonlyMap<string, ResumableRequests>;
}

/** Runs every row with every variant and returns the rows in order. */
async function runVariants(
  ctx: Context,
  rows: readonly CheckedRow[],
  variants: readonly Variant[],
  { concurrency, budget, keepMedia, requestsByService }: RunVariantsOptions,
): Promise<(CheckedRow & ComparedRow)[]> {
  const results = new Map<string, VariantResult>();
  const stop = new StopControl();
  const answerCount = pluralize(rows.length * variants.length, 'answer');
  const formatRunProgress = (): string => `${results.size} of ${answerCount}`;

  for (const connection of new Set(variants.map(variant => variant.connection))) {
    const jobs = listJobs(connection, rows, variants);
    const onResult = async ({ id }: Job, result: RequestResult): Promise<void> => {
      const runs = result.run === undefined ? [] : [result.run];
      // Media that can't be fetched are compared by URL, and so count as changed.
      const media = await fetchRunMedia(connection, runs, {
        isForPage: keepMedia,
        signal: ctx.signal,
      });
      results.set(id, { ...result, media });
    };

    const runWithoutJournal = (): Promise<void> =>
      runRequests(ctx, connection, jobs.map(planCreation), {
        concurrency: getConcurrency(connection, concurrency),
        budget,
        stop,
        onResult,
      });
    const requests = requestsByService.get(connection.serviceName);
    const running = requests ? requests.run(jobs, onResult) : runWithoutJournal();
    await withSpinner(ctx, formatRunProgress, running);
  }

  return rows.map(row => ({
    ...row,
    results: variants.flatMap((_, index) => results.get(getJobId(row, index)) ?? []),
  }));
}

/** Returns the jobs of the variants that this service runs. */
function listJobs(
  connection: Connection,
  rows: readonly CheckedRow[],
  variants: readonly Variant[],
): Job[] {
  return rows.flatMap(row =>
    row.requests.flatMap((request, index) => {
      const variant = variants[index];
      if (variant?.connection !== connection) return [];
      const { estimatedCredits } = variant;
      const buildRequest = async (): Promise<RunRequest> => request;
      return [{ id: getJobId(row, index), row: row.row, estimatedCredits, buildRequest }];
    }),
  );
}

function planCreation(job: Job): { readonly job: Job; readonly plan: JobPlan } {
  return { job, plan: { kind: 'create' } };
}

/**
 * Returns the id of a job: the row's number, and the variant with its version, model and inputs. It
 * stays the same if rows are added below.
 */
function getJobId({ row, requests }: CheckedRow, variantIndex: number): string {
  const request = requests[variantIndex];
  const digest = request && computeRequestDigest(request);
  const id = `${row}-${variantIndex}-${request?.promptVersionId}-${request?.model ?? ''}-${digest}`;
  return id.replaceAll('/', ':');
}
