import path from 'node:path';
import { formatDollars, money } from '../../../wire/money.ts';
import { counted } from '../../core/counted.ts';
import { fieldText } from '../../core/json-value.ts';
import { hasPaidCredits, spendingText, spentCells, spentTitles } from '../../creation/spending-text.ts';
import { fileDataUrl } from '../../outputs/media-content.ts';
import type { Grid, GridPart } from '../../outputs/pages/grid.ts';
import { gridPage } from '../../outputs/pages/grid-page.ts';
import type { ResultsLine } from '../results/results-line.ts';
import { type BatchSummary, hasSucceeded } from './reported-rows.ts';

/**
 * The results as one page: inputs beside outputs, saved pictures in it.
 *
 * @param directories where paths of saved outputs may start from
 */
export async function reportPage(
  rows: readonly ResultsLine[],
  summary: BatchSummary,
  { title, directories }: { readonly title: string; readonly directories: readonly string[] },
): Promise<string> {
  const gridRows: Grid['rows'][number][] = [];
  for (const row of rows) gridRows.push(await gridRow(row, directories));
  const seconds = summary.seconds === undefined ? '–' : `${summary.seconds} s`;
  const withCredits = hasPaidCredits(summary);
  return gridPage({
    title,
    facts: [
      `${counted(summary.rows, 'row')}: ${summary.succeeded} succeeded, ${summary.failed} failed`,
      ...spendingText(summary),
    ],
    measures: ['time', ...spentTitles(withCredits)],
    columns: [{ name: 'output', totals: [seconds, ...spentCells(summary, withCredits)] }],
    rows: gridRows,
    reasons: summary.failures.map(({ reason, rows: count }) => `${count} × ${reason}`),
  });
}

async function gridRow(row: ResultsLine, directories: readonly string[]): Promise<Grid['rows'][number]> {
  const { inputs, error, outputs, seconds, tokens } = row;
  const state = hasSucceeded(row) ? 'succeeded' : 'failed';
  const parts: GridPart[] = error === null ? [] : [{ kind: 'message', text: error }];
  for (const output of outputs) parts.push(await outputPart(output, directories));
  const time = seconds === null ? [] : [`${seconds} s`];
  const size = tokens === null ? [] : [counted(tokens, 'token')];
  const price = row.cost === null ? [] : [formatDollars(money(row.cost))];
  return {
    name: row.id,
    state,
    inputs: [
      ...Object.entries(inputs?.textInputs ?? {}).map(([name, value]) => [name, fieldText(value)] as const),
      ...(inputs?.imageInputs ?? []).map((image, at) => [`image ${at + 1}`, fieldText(image)] as const),
    ],
    cells: [{ state, facts: [row.runId ?? 'no run', ...time, ...size, ...price], parts }],
  };
}

/** A URL of a service is shown as text and never loaded. */
async function outputPart(
  { type, data, savedTo }: ResultsLine['outputs'][number],
  directories: readonly string[],
): Promise<GridPart> {
  const isMedia = type === 'image' || type === 'video';
  for (const directory of isMedia && typeof savedTo === 'string' ? directories : []) {
    const url = await fileDataUrl(path.resolve(directory, savedTo ?? '')).catch(() => undefined);
    if (url !== undefined) return { kind: 'media', url };
  }
  return { kind: type === 'error' ? 'error' : 'text', text: fieldText(data) };
}
