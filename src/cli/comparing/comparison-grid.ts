import { isMedia } from '../../wire/index.ts';
import { formatDollars } from '../../wire/money.ts';
import type { Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { formatCredits } from '../creation/spending/credits.ts';
import { formatSpentTotals } from '../creation/spending/spending-text.ts';
import { sumSeconds } from '../jobs/job.ts';
import { computeDifferences } from '../outputs/differences.ts';
import type { Grid, GridCell, GridPart, GridRow, GridTotal } from '../outputs/html/grid.ts';
import {
  type ComparedRow,
  type ComparedRowJudgement,
  computeRowVerdict,
  formatAnswer,
  formatPassed,
  getKnownUsage,
  type RowVerdict,
  type VariantResult,
  wasAttempted,
} from './compared-row.ts';
import type { Variant } from './create-variants.ts';

/** A comparison whose rows have run. */
export interface FinishedComparison {
  readonly variants: readonly Variant[];
  readonly comparedRows: readonly ComparedRow[];
  readonly budget: Budget;
  /** The judgements by row number; undefined without `--expect`. */
  readonly judgements: ReadonlyMap<number, ComparedRowJudgement> | undefined;
}

/** Returns a grid of rows by variants, with the differences from the first variant. */
export async function buildComparisonGrid(
  ctx: Context,
  { comparedRows, variants, budget, judgements }: FinishedComparison,
): Promise<Grid> {
  const rows: GridRow[] = [];
  for (const comparedRow of comparedRows) {
    const judgement = judgements?.get(comparedRow.row);
    rows.push(await buildComparisonGridRow(ctx, comparedRow, budget, judgement));
  }

  return {
    title: variants.map(({ name }) => name).join(' · '),
    facts: formatVerdictCounts(comparedRows),
    faults: comparedRows.flatMap(({ id, results }) =>
      results.flatMap(result =>
        hasSucceeded(result) ? [] : `${id}: ${formatAnswer(result) || 'the run failed'}`,
      ),
    ),
    columns: variants.map(({ name }, index) => ({
      name,
      totals: formatVariantTotals(
        comparedRows.flatMap(({ results }) => results[index] ?? []),
        budget,
      ),
    })),
    rows,
  };
}

/** Returns how many rows have each verdict, such as `3 same`. */
function formatVerdictCounts(rows: readonly ComparedRow[]): string[] {
  const verdicts = rows.map(computeRowVerdict);
  const formatCount = (verdict: RowVerdict): string =>
    `${verdicts.filter(rowVerdict => rowVerdict === verdict).length} ${verdict}`;
  const rowsInDoubt = rows.filter(({ results }) => results.some(({ isInDoubt }) => isInDoubt));

  const counts = [formatCount('same'), formatCount('changed'), formatCount('failed')];
  if (rowsInDoubt.length > 0) counts.push(`${rowsInDoubt.length} of them in doubt`);
  if (verdicts.includes('not run')) counts.push(formatCount('not run'));
  return counts;
}

function formatVariantTotals(results: readonly VariantResult[], budget: Budget): GridTotal[] {
  const attemptedResults = results.filter(wasAttempted);
  const succeededCount = attemptedResults.filter(hasSucceeded).length;
  const seconds = sumSeconds(results.map(result => result.seconds));
  const spent = budget.computeTotals(results.flatMap(({ run }) => run?.runId ?? []));

  return [
    { name: 'succeeded', value: String(succeededCount) },
    { name: 'failed', value: String(attemptedResults.length - succeededCount) },
    { name: 'time', value: `${seconds.toFixed(1)} s` },
    ...formatSpentTotals(spent, { withCredits: true }),
  ];
}

async function buildComparisonGridRow(
  ctx: Context,
  row: ComparedRow,
  budget: Budget,
  judgement: ComparedRowJudgement | undefined,
): Promise<GridRow> {
  const [firstResult] = row.results;
  const cells: GridCell[] = [];
  for (const [index, result] of row.results.entries()) {
    const passed = formatPassed(judgement?.passes[index]);
    const facts = [...(passed === undefined ? [] : [passed]), ...formatResultFacts(result, budget)];
    const messages = (judgement?.messages[index] ?? []).map(
      (text): GridPart => ({ kind: 'message', text }),
    );
    const answerParts = await buildResultParts(ctx, result, firstResult);
    cells.push({ state: getVariantState(result), facts, parts: [...messages, ...answerParts] });
  }

  return { name: row.id, state: computeRowVerdict(row), inputs: Object.entries(row.inputs), cells };
}

/** Returns the time and the cost of a result if they are known, and its tokens. */
function formatResultFacts({ run, seconds }: VariantResult, budget: Budget): string[] {
  const { tokens = '–', credits, cost } = getKnownUsage(run, budget);
  const facts = seconds === null ? [] : [`${seconds.toFixed(1)} s`];
  facts.push(pluralize(tokens, 'token'));
  if (credits !== undefined) facts.push(formatCredits(credits));
  if (cost !== undefined) facts.push(formatDollars(cost));
  return facts;
}

/**
 * Returns an answer with its differences from the first variant's; unchanged for the first variant
 * and if either failed.
 */
async function buildResultParts(
  ctx: Context,
  result: VariantResult,
  firstResult: VariantResult | undefined,
): Promise<GridPart[]> {
  const text = formatAnswer(result);
  if (result.fault !== undefined) return [{ kind: 'error', text }];

  const media = (result.run?.outputs ?? [])
    .filter(isMedia)
    .map(({ data }): GridPart => ({ kind: 'media', url: result.media.get(data)?.dataUrl }));
  if (text === '') return media;

  const isComparable =
    firstResult !== undefined &&
    firstResult !== result &&
    hasSucceeded(firstResult) &&
    hasSucceeded(result);
  if (!isComparable) return [{ kind: 'text', text }, ...media];

  const parts = await computeDifferences(ctx, formatAnswer(firstResult), text, 'words');
  return [{ kind: 'difference', parts }, ...media];
}

function getVariantState(result: VariantResult): 'not run' | 'succeeded' | 'failed' {
  if (result.run === undefined) return 'not run';
  return hasSucceeded(result) ? 'succeeded' : 'failed';
}

function hasSucceeded({ run }: VariantResult): boolean {
  return run?.runStatus === 'succeeded';
}
