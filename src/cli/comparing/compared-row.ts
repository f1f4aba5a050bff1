import { withoutUndefined } from '../../files/formats/json.ts';
import { formatOutputData, toCount, toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { Run } from '../../wire/index.ts';
import { toDollars } from '../../wire/money.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { Failure } from '../core/failure.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { fromCredits } from '../creation/spending/credits.ts';
import { getFailedRunTokens, type RunSpend } from '../creation/spending/totals.ts';
import type { RequestResult } from '../jobs/run-requests.ts';
import type { MediaContent } from '../outputs/media-content.ts';
import { formatReason, joinProviderReasons, withoutRerunAdvice } from '../outputs/run-errors.ts';
import type { Variant } from './create-variants.ts';

export interface VariantResult extends RequestResult {
  /** Images and videos by URL. */
  readonly media: ReadonlyMap<string, MediaContent>;
}

/** A row with the results of the variants, in their order. */
export interface ComparedRow {
  readonly row: number;
  readonly id: string;
  /** The inputs from the row and the command line. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly results: readonly VariantResult[];
}

/** The values that the rows of a comparison share. */
interface ResultsContext {
  readonly variants: readonly Variant[];
  readonly budget: Budget;
  /** The judgements by row number; undefined without `--expect`. */
  readonly judgements: ReadonlyMap<number, ComparedRowJudgement> | undefined;
}

/** The judgement of a row's case on its answers, in the order of the variants. */
export interface ComparedRowJudgement {
  /** The name of the case. */
  readonly case: string;
  /** True for an answer that passes; undefined if there is none, or it could not be judged. */
  readonly passes: readonly (boolean | undefined)[];
  /** The messages of the expectations that each answer failed. */
  readonly messages: readonly (readonly string[])[];
  /** The faults that kept answers from being judged. */
  readonly faults: readonly Failure[];
}

/**
 * The verdict on a row: `failed` if a run failed or could not be created; otherwise `not run` if a
 * run was not tried; otherwise `changed` if the outputs differ, or `same`.
 */
export type RowVerdict = 'same' | 'changed' | 'failed' | 'not run';

export function computeRowVerdict({ results }: ComparedRow): RowVerdict {
  const attemptedResults = results.filter(wasAttempted);
  if (attemptedResults.some(({ run }) => run?.runStatus !== 'succeeded')) return 'failed';
  if (attemptedResults.length < results.length) return 'not run';

  const contents = results.map(toComparableContent);
  return contents.every(content => content === contents[0]) ? 'same' : 'changed';
}

/**
 * Returns false if no run was tried, because a cap was reached, or because of a fault that every row
 * would meet.
 */
export function wasAttempted({ fault, isPostponed = false }: RequestResult): boolean {
  return !isPostponed && fault?.exitCode !== EXIT.capReached;
}

/**
 * Returns the content to compare. Images are compared by bytes, because each run has its own
 * URLs.
 */
function toComparableContent({ run, media }: VariantResult): string {
  return JSON.stringify(
    run?.outputs.map(({ type, data }) => {
      const content = media.get(toTextOrEmpty(data));
      return [type, content === undefined ? data : content.sha256];
    }),
  );
}

/** Returns the text of a variant's answer, or why there is none. */
export function formatAnswer({ run, fault }: VariantResult): string {
  if (fault !== undefined) return `${fault.message} (${fault.status})`;

  return (run?.outputs ?? [])
    .flatMap(({ type, data }) => {
      if (type === 'error') return [`error: ${withoutRerunAdvice(formatReason(data))}`];
      return type === 'text' ? [formatOutputData(data)] : [];
    })
    .join('\n');
}

/** Returns the reason why a variant has no complete answer; undefined if its run succeeded. */
export function findVariantFailure({ run, fault }: VariantResult): Failure | undefined {
  if (fault !== undefined) return fault;
  if (run === undefined || run.runStatus === 'succeeded') return undefined;

  return {
    status: 'RUN_FAILED',
    message: joinProviderReasons(run),
    data: { runId: run.runId },
    exitCode: EXIT.runFailed,
    hints: [],
  };
}

export function formatPassed(isPassed: boolean | undefined): 'passed' | 'failed' | undefined {
  if (isPassed === undefined) return undefined;
  return isPassed ? 'passed' : 'failed';
}

/** Returns the tokens, credits and cost of a run; undefined for those that are unknown. */
export function getKnownUsage(
  run: Run | undefined,
  budget: Budget,
): Pick<RunSpend, 'credits' | 'cost'> & { readonly tokens: number | undefined } {
  const spent = budget.getRunSpend(run?.runId ?? '');
  const tokens = getFailedRunTokens(run, spent) ?? toCount(run?.tokens);
  return { tokens, credits: spent.credits, cost: spent.cost };
}

/** Returns a row in the form of `--json`. */
export function toRowData(
  comparedRow: ComparedRow,
  { variants, budget, judgements }: ResultsContext,
): object {
  const { row, id, inputs, results } = comparedRow;
  const judgement = judgements?.get(row);
  return withoutUndefined({
    row,
    id,
    verdict: computeRowVerdict(comparedRow),
    inputs,
    case: judgements && (judgement?.case ?? null),
    results: results.map((result, index) =>
      toResultData(result, variants[index], {
        budget,
        passed: judgements && (judgement?.passes[index] ?? null),
      }),
    ),
  });
}

/** @param passed undefined without `--expect`, null without a verdict */
function toResultData(
  { run, seconds, fault }: VariantResult,
  variant: Variant | undefined,
  { budget, passed }: { readonly budget: Budget; readonly passed: boolean | null | undefined },
): object {
  const { tokens, credits, cost } = getKnownUsage(run, budget);
  return withoutUndefined({
    target: variant?.name,
    promptVersionId: variant?.promptVersionId,
    model: variant?.model ?? null,
    runId: run?.runId ?? null,
    runStatus: run?.runStatus ?? null,
    outputs: run?.outputs ?? [],
    tokens: tokens ?? null,
    credits: credits === undefined ? null : fromCredits(credits),
    cost: cost === undefined ? null : toDollars(cost),
    seconds,
    passed,
    error: fault === undefined ? null : { status: fault.status, message: fault.message },
  });
}

/**
 * Returns the cells of a row: number, id, verdict, then for each variant run id, status, seconds,
 * tokens, credits and, with expectations, whether it passed.
 */
export function formatRowCells(
  comparedRow: ComparedRow,
  { budget, judgements }: Omit<ResultsContext, 'variants'>,
): string[] {
  const { row, id, results } = comparedRow;
  const cells = [String(row), id, computeRowVerdict(comparedRow)];
  for (const [index, { run, seconds }] of results.entries()) {
    const { tokens = '-', credits } = getKnownUsage(run, budget);
    cells.push(
      run?.runId ?? '-',
      run?.runStatus ?? 'not run',
      seconds?.toFixed(3) ?? '-',
      String(tokens),
      credits === undefined ? '-' : String(fromCredits(credits)),
    );
    if (judgements) cells.push(formatPassed(judgements.get(row)?.passes[index]) ?? '-');
  }
  return cells;
}
