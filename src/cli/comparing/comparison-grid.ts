import { isMedia } from '../../wire/index.ts';
import { formatDollars } from '../../wire/money.ts';
import type { Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/budget.ts';
import { creditsText } from '../creation/credits.ts';
import { spentCells, spentTitles } from '../creation/spending-text.ts';
import { sumOfSeconds } from '../jobs/job.ts';
import { differences } from '../outputs/differences.ts';
import type { Grid, GridCell, GridPart, GridRow } from '../outputs/pages/grid.ts';
import {
  type ComparedRow,
  isNotRun,
  measureRun,
  passedText,
  type RowVerdict,
  rowVerdict,
  shownText,
  type VariantResult,
} from './compared-row.ts';
import type { Variant } from './create-variants.ts';
import type { ComparedRowJudgement } from './judge-rows.ts';

/** Column totals of a variant, in display order. */
const COMPARED_MEASURES = ['succeeded', 'failed', 'time', ...spentTitles({ withCredits: true })];

/** A comparison whose rows have run. */
export interface FinishedComparison {
  readonly variants: readonly Variant[];
  readonly compared: readonly ComparedRow[];
  readonly budget: Budget;
  /** The verdicts by row number; undefined without `--expect`. */
  readonly judgements: ReadonlyMap<number, ComparedRowJudgement> | undefined;
}

/** Returns a grid of rows by variants, with the differences from the first variant. */
export async function comparisonGrid(
  ctx: Context,
  { compared: rows, variants, budget, judgements }: FinishedComparison,
): Promise<Grid> {
  const verdicts = rows.map(rowVerdict);
  const count = (verdict: RowVerdict): string =>
    `${verdicts.filter(rowVerdict => rowVerdict === verdict).length} ${verdict}`;
  const inDoubt = rows.filter(({ results }) => results.some(({ isInDoubt }) => isInDoubt)).length;
  const gridRows: GridRow[] = [];
  for (const row of rows) gridRows.push(await comparisonGridRow(ctx, row, budget, judgements?.get(row.row)));
  return {
    title: variants.map(({ name }) => name).join(' · '),
    facts: [
      ...(['same', 'changed', 'failed'] as const).map(count),
      ...(inDoubt > 0 ? [`${inDoubt} of them in doubt`] : []),
      ...(verdicts.includes('not run') ? [count('not run')] : []),
    ],
    reasons: rows.flatMap(({ id, results }) =>
      results.flatMap(result =>
        variantSucceeded(result) ? [] : `${id}: ${shownText(result) || 'the run failed'}`,
      ),
    ),
    measures: COMPARED_MEASURES,
    columns: variants.map(({ name }, index) => ({
      name,
      totals: variantTotals(
        rows.flatMap(row => row.results[index] ?? []),
        budget,
      ),
    })),
    rows: gridRows,
  };
}

function variantTotals(results: readonly VariantResult[], budget: Budget): string[] {
  const ranResults = results.filter(result => !isNotRun(result));
  const succeeded = ranResults.filter(variantSucceeded).length;
  const seconds = sumOfSeconds(results.map(result => result.seconds));
  const spent = budget.totals(results.flatMap(({ run }) => run?.runId ?? []));
  const counts = [succeeded, ranResults.length - succeeded, `${seconds.toFixed(1)} s`].map(String);
  return [...counts, ...spentCells(spent, { withCredits: true })];
}

async function comparisonGridRow(
  ctx: Context,
  row: ComparedRow,
  budget: Budget,
  judgement: ComparedRowJudgement | undefined,
): Promise<GridRow> {
  const [first] = row.results;
  const cells: GridCell[] = [];
  for (const [index, result] of row.results.entries()) {
    const state = variantState(result);
    const passed = passedText(judgement?.passes[index]);
    const facts = [...(passed ? [passed] : []), ...resultFacts(result, budget)];
    const messages = (judgement?.messages[index] ?? []).map(text => ({ kind: 'message', text }) as const);
    cells.push({ state, facts, parts: [...messages, ...(await resultParts(ctx, result, first))] });
  }
  return { name: row.id, state: rowVerdict(row), inputs: Object.entries(row.inputs), cells };
}

/** Returns the known facts: time, tokens and cost. */
function resultFacts({ run, seconds }: VariantResult, budget: Budget): string[] {
  const { tokens = '–', credits, cost } = measureRun(run, budget);
  return [
    ...(seconds === null ? [] : [`${seconds.toFixed(1)} s`]),
    pluralize(tokens, 'token'),
    ...(credits === undefined ? [] : [creditsText(credits)]),
    ...(cost === undefined ? [] : [formatDollars(cost)]),
  ];
}

/** Returns an answer with its differences from the first variant's; unchanged for the first variant and if either failed. */
async function resultParts(
  ctx: Context,
  result: VariantResult,
  firstResult: VariantResult | undefined,
): Promise<GridPart[]> {
  const text = shownText(result);
  const media = (result.run?.outputs ?? [])
    .filter(isMedia)
    .map(({ data }): GridPart => ({ kind: 'media', url: result.media.get(data)?.dataUrl }));
  if (result.fault !== undefined) return [{ kind: 'error', text }];
  if (text === '') return media;
  const isWhole =
    firstResult === undefined ||
    firstResult === result ||
    !variantSucceeded(firstResult) ||
    !variantSucceeded(result);
  const part: GridPart = isWhole
    ? { kind: 'text', text }
    : { kind: 'difference', parts: await differences(ctx, shownText(firstResult), text, 'words') };
  return [part, ...media];
}

function variantState(result: VariantResult): 'not run' | 'succeeded' | 'failed' {
  if (result.run === undefined) return 'not run';
  return variantSucceeded(result) ? 'succeeded' : 'failed';
}

function variantSucceeded({ run }: VariantResult): boolean {
  return run?.runStatus === 'succeeded';
}
