import { isMedia } from '../../wire/index.ts';
import { formatDollars } from '../../wire/money.ts';
import type { Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/budget.ts';
import { formatCredits } from '../creation/credits.ts';
import { formatSpentCells, getSpentTitles } from '../creation/spending-text.ts';
import { sumSeconds } from '../jobs/job.ts';
import { computeDifferences } from '../outputs/differences.ts';
import type { Grid, GridCell, GridPart, GridRow } from '../outputs/pages/grid.ts';
import {
  type ComparedRow,
  computeRowVerdict,
  formatAnswer,
  formatPassed,
  measureRun,
  type RowVerdict,
  type VariantResult,
  wasRun,
} from './compared-row.ts';
import type { Variant } from './create-variants.ts';
import type { ComparedRowJudgement } from './judge-rows.ts';

/** Column totals of a variant, in display order. */
const COMPARED_MEASURES = ['succeeded', 'failed', 'time', ...getSpentTitles({ withCredits: true })];

/** A comparison whose rows have run. */
export interface FinishedComparison {
  readonly variants: readonly Variant[];
  readonly compared: readonly ComparedRow[];
  readonly budget: Budget;
  /** The verdicts by row number; undefined without `--expect`. */
  readonly judgements: ReadonlyMap<number, ComparedRowJudgement> | undefined;
}

/** Returns a grid of rows by variants, with the differences from the first variant. */
export async function buildComparisonGrid(
  ctx: Context,
  { compared: rows, variants, budget, judgements }: FinishedComparison,
): Promise<Grid> {
  const gridRows: GridRow[] = [];
  for (const row of rows) {
    gridRows.push(await buildComparisonGridRow(ctx, row, budget, judgements?.get(row.row)));
  }

  return {
    title: variants.map(({ name }) => name).join(' · '),
    facts: formatVerdictCounts(rows),
    reasons: rows.flatMap(({ id, results }) =>
      results.flatMap(result =>
        hasSucceeded(result) ? [] : `${id}: ${formatAnswer(result) || 'the run failed'}`,
      ),
    ),
    measures: COMPARED_MEASURES,
    columns: variants.map(({ name }, index) => ({
      name,
      totals: formatVariantTotals(
        rows.flatMap(row => row.results[index] ?? []),
        budget,
      ),
    })),
    rows: gridRows,
  };
}

/** Returns the number of rows of each verdict, such as `3 same`. */
function formatVerdictCounts(rows: readonly ComparedRow[]): string[] {
  const verdicts = rows.map(computeRowVerdict);
  const count = (verdict: RowVerdict): string =>
    `${verdicts.filter(rowVerdict => rowVerdict === verdict).length} ${verdict}`;
  const inDoubt = rows.filter(({ results }) => results.some(({ isInDoubt }) => isInDoubt)).length;

  const counts = [count('same'), count('changed'), count('failed')];
  if (inDoubt > 0) counts.push(`${inDoubt} of them in doubt`);
  if (verdicts.includes('not run')) counts.push(count('not run'));
  return counts;
}

function formatVariantTotals(results: readonly VariantResult[], budget: Budget): string[] {
  const ranResults = results.filter(wasRun);
  const succeeded = ranResults.filter(hasSucceeded).length;
  const seconds = sumSeconds(results.map(result => result.seconds));
  const spent = budget.computeTotals(results.flatMap(({ run }) => run?.runId ?? []));

  return [
    String(succeeded),
    String(ranResults.length - succeeded),
    `${seconds.toFixed(1)} s`,
    ...formatSpentCells(spent, { withCredits: true }),
  ];
}

async function buildComparisonGridRow(
  ctx: Context,
  row: ComparedRow,
  budget: Budget,
  judgement: ComparedRowJudgement | undefined,
): Promise<GridRow> {
  const [first] = row.results;
  const cells: GridCell[] = [];
  for (const [index, result] of row.results.entries()) {
    const facts = formatResultFacts(result, budget);
    const passed = formatPassed(judgement?.passes[index]);
    if (passed !== undefined) facts.unshift(passed);

    const messages = (judgement?.messages[index] ?? []).map(
      (text): GridPart => ({ kind: 'message', text }),
    );
    const answerParts = await buildResultParts(ctx, result, first);
    cells.push({ state: getVariantState(result), facts, parts: [...messages, ...answerParts] });
  }

  return { name: row.id, state: computeRowVerdict(row), inputs: Object.entries(row.inputs), cells };
}

/** Returns the known facts: time, tokens and cost. */
function formatResultFacts({ run, seconds }: VariantResult, budget: Budget): string[] {
  const { tokens = '–', credits, cost } = measureRun(run, budget);
  const facts = [pluralize(tokens, 'token')];
  if (seconds !== null) facts.unshift(`${seconds.toFixed(1)} s`);
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
