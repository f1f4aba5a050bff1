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
  isNotRun,
  measureRun,
  type RowVerdict,
  type VariantResult,
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
  const verdicts = rows.map(computeRowVerdict);
  const count = (verdict: RowVerdict): string =>
    `${verdicts.filter(rowVerdict => rowVerdict === verdict).length} ${verdict}`;
  const inDoubt = rows.filter(({ results }) => results.some(({ isInDoubt }) => isInDoubt)).length;

  const gridRows: GridRow[] = [];
  for (const row of rows) {
    gridRows.push(await buildComparisonGridRow(ctx, row, budget, judgements?.get(row.row)));
  }

  return {
    title: variants.map(({ name }) => name).join(' · '),
    facts: [
      ...(['same', 'changed', 'failed'] as const).map(count),
      ...(inDoubt > 0 ? [`${inDoubt} of them in doubt`] : []),
      ...(verdicts.includes('not run') ? [count('not run')] : []),
    ],
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

function formatVariantTotals(results: readonly VariantResult[], budget: Budget): string[] {
  const ranResults = results.filter(result => !isNotRun(result));
  const succeeded = ranResults.filter(hasSucceeded).length;
  const seconds = sumSeconds(results.map(result => result.seconds));
  const spent = budget.computeTotals(results.flatMap(({ run }) => run?.runId ?? []));
  const counts = [succeeded, ranResults.length - succeeded, `${seconds.toFixed(1)} s`].map(String);
  return [...counts, ...formatSpentCells(spent, { withCredits: true })];
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
    const state = getVariantState(result);
    const passed = formatPassed(judgement?.passes[index]);
    const facts = [...(passed ? [passed] : []), ...formatResultFacts(result, budget)];
    const messages = (judgement?.messages[index] ?? []).map(
      text => ({ kind: 'message', text }) as const,
    );
    cells.push({
      state,
      facts,
      parts: [...messages, ...(await buildResultParts(ctx, result, first))],
    });
  }

  return { name: row.id, state: computeRowVerdict(row), inputs: Object.entries(row.inputs), cells };
}

/** Returns the known facts: time, tokens and cost. */
function formatResultFacts({ run, seconds }: VariantResult, budget: Budget): string[] {
  const { tokens = '–', credits, cost } = measureRun(run, budget);
  return [
    ...(seconds === null ? [] : [`${seconds.toFixed(1)} s`]),
    pluralize(tokens, 'token'),
    ...(credits === undefined ? [] : [formatCredits(credits)]),
    ...(cost === undefined ? [] : [formatDollars(cost)]),
  ];
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
  const media = (result.run?.outputs ?? [])
    .filter(isMedia)
    .map(({ data }): GridPart => ({ kind: 'media', url: result.media.get(data)?.dataUrl }));
  if (result.fault !== undefined) return [{ kind: 'error', text }];
  if (text === '') return media;

  const isWhole =
    firstResult === undefined ||
    firstResult === result ||
    !hasSucceeded(firstResult) ||
    !hasSucceeded(result);

  const part: GridPart = isWhole
    ? { kind: 'text', text }
    : {
        kind: 'difference',
        parts: await computeDifferences(ctx, formatAnswer(firstResult), text, 'words'),
      };
  return [part, ...media];
}

function getVariantState(result: VariantResult): 'not run' | 'succeeded' | 'failed' {
  if (result.run === undefined) return 'not run';
  return hasSucceeded(result) ? 'succeeded' : 'failed';
}

function hasSucceeded({ run }: VariantResult): boolean {
  return run?.runStatus === 'succeeded';
}
