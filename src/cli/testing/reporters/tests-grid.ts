import { isMedia } from '../../../wire/index.ts';
import { formatDollars } from '../../../wire/money.ts';
import { counted } from '../../core/counted.ts';
import { fieldText } from '../../core/json-value.ts';
import type { Budget } from '../../creation/budget.ts';
import type { MediaContent } from '../../outputs/media-content.ts';
import type { Grid, GridCell, GridPart, GridRow, GridState } from '../../outputs/pages/grid.ts';
import type { TestCase } from '../cases/test-case.ts';
import { type EntryResult, hasPassed, type Repetition, totalsOf, totalsText } from '../result.ts';
import { mismatchParts } from './details.ts';

/** What a page shows of runs besides what reports hold. */
export interface ReportMaterial {
  /** Pictures, by their URLs. */
  readonly media: Map<string, MediaContent>;
  /** What a run took. */
  readonly factsOf: Budget['factsOf'];
}

const STATES = { passed: 'passed', failed: 'failed', fault: 'not run' } as const;

/** Cases by models. */
export async function testsGrid(results: readonly EntryResult[], material: ReportMaterial): Promise<Grid> {
  const models = [...new Set(results.map(({ entry }) => entry.model))];
  const byCase = new Map<TestCase, EntryResult[]>();
  for (const result of results) {
    const { testCase } = result.entry;
    byCase.set(testCase, [...(byCase.get(testCase) ?? []), result]);
  }
  const rows: GridRow[] = [];
  for (const [testCase, own] of byCase) rows.push(await gridRow(testCase, own, models, material));
  return {
    title: 'Prompt tests',
    facts: [totalsText(totalsOf(results))],
    measures: ['passed', 'failed', 'not run', 'time', 'tokens', 'cost'],
    columns: models.map(model => ({
      name: model ?? (models.length > 1 ? 'the prompt’s own model' : 'answer'),
      totals: columnTotals(
        results.filter(({ entry }) => entry.model === model),
        material,
      ),
    })),
    rows,
  };
}

function columnTotals(results: readonly EntryResult[], material: ReportMaterial): string[] {
  const { passed, failed, faults } = totalsOf(results);
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const tokens = results
    .flatMap(({ repetitions }) => repetitions.map(({ run }) => run?.tokens))
    .reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
  const cost = costText(
    results.flatMap(({ repetitions }) => repetitions),
    material,
  );
  return [passed, failed, faults, `${seconds.toFixed(1)} s`, tokens, cost ?? '–'].map(String);
}

/** What runs cost in all, of which that is known; undefined if it is of none. */
function costText(repetitions: readonly Repetition[], { factsOf }: ReportMaterial): string | undefined {
  const known = repetitions.flatMap(({ run }) => factsOf(run?.runId ?? '').cost?.cost ?? []);
  return known.length === 0 ? undefined : formatDollars(known.reduce((sum, cost) => sum + cost, 0));
}

async function gridRow(
  testCase: TestCase,
  results: readonly EntryResult[],
  models: readonly (string | undefined)[],
  material: ReportMaterial,
): Promise<GridRow> {
  const cells: (GridCell | undefined)[] = [];
  for (const model of models) {
    const result = results.find(({ entry }) => entry.model === model);
    cells.push(result && (await gridCell(result, material)));
  }
  const states = results.map(({ status }) => STATES[status]);
  const state: GridState =
    states.find(one => one === 'not run') ?? states.find(one => one === 'failed') ?? 'passed';
  return {
    name: testCase.name,
    place: `${results[0]?.entry.file.name}:${testCase.line}`,
    state,
    inputs: [
      ...testCase.text,
      ...testCase.images.map(({ name, image }, at) => [name ?? `image ${at + 1}`, image.name] as const),
      ...testCase.options,
    ],
    cells,
  };
}

async function gridCell(
  { status, seconds, repetitions, entry }: EntryResult,
  material: ReportMaterial,
): Promise<GridCell> {
  const cost = costText(repetitions, material);
  const tokens = repetitions.map(({ run }) => run?.tokens).filter(count => count !== undefined);
  const parts: GridPart[] = [];
  if (repetitions.length > 1) {
    const passed = repetitions.filter(hasPassed).length;
    const text = `${passed} of ${repetitions.length} passed, ${entry.testCase.pass} needed`;
    parts.push({ kind: status === 'passed' ? 'text' : 'message', text });
  }
  for (const repetition of repetitions) parts.push(...(await repetitionParts(repetition, material)));
  return {
    state: STATES[status],
    facts: [
      `${seconds.toFixed(1)} s`,
      ...tokens.map(count => counted(fieldText(count), 'token')),
      ...(cost === undefined ? [] : [cost]),
    ],
    parts,
  };
}

/** What was expected and did not come, then what came, unless a difference shows it already. */
async function repetitionParts(
  { run, fault, mismatches }: Repetition,
  { media }: ReportMaterial,
): Promise<GridPart[]> {
  if (fault !== undefined) {
    const text = [`${fault.message} (${fault.status})`, ...fault.hints].join('\n');
    return [{ kind: 'error', text }];
  }
  const parts: GridPart[] = [];
  for (const mismatch of mismatches) {
    parts.push({ kind: 'message', text: `line ${mismatch.line}: ${mismatch.message}` });
    if (mismatch.expected !== undefined && mismatch.actual !== undefined) {
      parts.push({ kind: 'difference', parts: await mismatchParts(mismatch) });
    }
  }
  const isShown = parts.some(({ kind }) => kind === 'difference');
  for (const output of run?.outputs ?? []) {
    if (isMedia(output)) parts.push({ kind: 'media', url: media.get(output.data)?.dataUrl });
    else if (!isShown || output.type === 'error') {
      parts.push({ kind: output.type === 'error' ? 'error' : 'text', text: fieldText(output.data) });
    }
  }
  return parts;
}
