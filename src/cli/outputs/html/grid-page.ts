import { readBuiltText } from '../../../files/installed/installed-file.ts';
import type { DiffPart } from '../../checks/check-tasks.ts';
import {
  countStates,
  type Grid,
  type GridCell,
  type GridPart,
  type GridRange,
  type GridRow,
  isFaultyState,
  sortFlakyFirst,
  sortWorstFirst,
} from './grid.ts';
import { type Html, html, renderHtmlPage } from './html.ts';

/**
 * Formats a grid as a page: totals of each column, then the rows, flaky and faulty ones first and
 * open.
 */
export function renderGridPage(grid: Grid): string {
  const rows = sortFlakyFirst(sortWorstFirst(grid.rows));
  const columns = grid.columns.map(({ name }) => name);
  const body = html`<header><h1>${grid.title}</h1><p>${grid.facts.join(' · ')}</p>${renderRanges(grid)}${renderFaults(grid)}${renderTotals(grid)}</header>
<nav>${countStates(rows).map(
    ([state, count]) =>
      html`<label><input type="checkbox" value="${state}" checked> <span class="${getStateClass(state)}">${state}</span> ${count}</label>`,
  )}<input type="search" placeholder="Filter by words" aria-label="Filter by words"><output>${rows.length} of ${rows.length}</output></nav>
<main>${rows.map(row => renderRow(row, columns))}</main>`;

  return renderHtmlPage({
    title: grid.title,
    style: readBuiltText('page/report.css') + renderColumnWidths(columns.length),
    body,
    script: readBuiltText('page/report.js'),
  });
}

function renderRanges({ ranges = [] }: Pick<Grid, 'ranges'>): Html[] {
  return ranges.length === 0 ? [] : [html`<div class="ranges">${ranges.map(renderRange)}</div>`];
}

/** Draws an interval as a bar on its scale, with its value and the one to compare with as lines. */
function renderRange({
  label,
  text,
  value,
  interval,
  min: lowest,
  comparedValue,
  tone,
}: GridRange): Html {
  const toPosition = (position: number): string =>
    `${(((position - lowest) / (1 - lowest)) * 100).toFixed(2)}%`;
  const [low, high] = interval;
  const width = `${(((high - low) / (1 - lowest)) * 100).toFixed(2)}%`;
  const renderLine = (position: number, name: string): Html =>
    html`<line class="${name}" x1="${toPosition(position)}" x2="${toPosition(position)}" y1="0" y2="100%"/>`;
  return html`<figure><figcaption><b>${label}</b> ${text}</figcaption><svg class="${tone}" role="img" aria-label="${`${label}: ${text}`}"><rect class="scale" width="100%" height="100%"/><rect class="interval" x="${toPosition(low)}" width="${width}" height="100%"/>${comparedValue === undefined ? [] : [renderLine(comparedValue, 'mark')]}${renderLine(value, 'value')}</svg></figure>`;
}

function renderTotals({ columns }: Grid): Html | undefined {
  const titles = columns[0]?.totals.map(({ name }) => name) ?? [];
  if (titles.length === 0) return undefined;
  const hasColumnNames = columns.length > 1;
  return html`<div class="totals"><table><tr>${hasColumnNames ? [html`<th></th>`] : []}${titles.map(title => html`<th>${title}</th>`)}</tr>${columns.map(
    ({ name, totals }) =>
      html`<tr>${hasColumnNames ? [html`<th>${name}</th>`] : []}${totals.map(({ value }) => html`<td>${value}</td>`)}</tr>`,
  )}</table></div>`;
}

const MAX_LISTED_FAULTS = 10;

/** Returns a summary of the faults for the top of the page. */
function renderFaults({ faults }: Grid): Html[] {
  if (faults.length === 0) return [];
  const hiddenCount = faults.length - MAX_LISTED_FAULTS;
  const lines = faults.slice(0, MAX_LISTED_FAULTS).map(fault => html`<li>${fault}</li>`);
  return [
    html`<ul class="bad">${lines}${hiddenCount > 0 ? [html`<li>… and ${hiddenCount} more</li>`] : []}</ul>`,
  ];
}

function renderRow(row: GridRow, columns: readonly string[]): Html {
  const isOpen = row.isFlaky || !['passed', 'same', 'succeeded'].includes(row.state);
  const headings = columns.length > 1 ? columns : [];
  return html`<details data-state="${row.state}"${isOpen ? ' open' : ''}>${renderSummary(row)}
<div class="cells">${renderRowInputs(row)}${renderExpected(row)}${row.cells.map((cell, index) => renderCell(cell, headings[index]))}</div></details>`;
}

function renderSummary(row: GridRow): Html {
  const [first] = row.inputs;
  const hint = first === undefined ? '' : `${first[0]}: ${first[1].slice(0, 80)}`;
  const flaky = row.isFlaky ? [html` <span class="tag changed">flaky</span>`] : [];
  const placeHtml = row.place === undefined ? [] : [html` <small>${row.place}</small>`];
  return html`<summary><span class="${getStateClass(row.state)}">${row.state}</span>${flaky} <b>${row.name}</b>${placeHtml} <small>${hint}</small></summary>`;
}

function renderRowInputs({ inputs }: GridRow): Html[] {
  if (inputs.length === 0) return [];
  return [
    html`<section><h3>Inputs</h3>${inputs.map(([name, value]) => html`<small>${name}</small><pre>${value}</pre>`)}</section>`,
  ];
}

function renderExpected({ expected = [] }: GridRow): Html[] {
  if (expected.length === 0) return [];
  return [
    html`<section><h3>Expected</h3>${expected.map(text => html`<pre>${text}</pre>`)}</section>`,
  ];
}

function renderCell(cell: GridCell | undefined, column: string | undefined): Html {
  const heading = column === undefined ? [] : [html`<h3>${column}</h3>`];
  if (cell === undefined) return html`<section>${heading}</section>`;
  const state =
    column === undefined
      ? []
      : [html`<span class="${getStateClass(cell.state)}">${cell.state}</span> `];
  return html`<section>${heading}<p>${state}<small>${cell.facts.join(', ')}</small></p>${renderRanges(cell)}${cell.parts.map(renderPart)}</section>`;
}

function renderPart(part: GridPart): Html {
  switch (part.kind) {
    case 'media':
      if (part.url === undefined) return html`<p><small>not shown</small></p>`;
      return part.url.startsWith('data:video/')
        ? html`<video controls src="${part.url}"></video>`
        : html`<img alt="" src="${part.url}">`;
    case 'difference':
      return html`<pre>${part.parts.map(renderDifference)}</pre>`;
    case 'message':
      return html`<p class="bad">${part.text}</p>`;
    case 'error':
      return html`<pre class="bad">${part.text}</pre>`;
    case 'text':
    default:
      return html`<pre>${part.text}</pre>`;
  }
}

function renderDifference({ kind, text }: DiffPart): Html {
  if (kind === 'removed') return html`<del>${text}</del>`;
  if (kind === 'added') return html`<ins>${text}</ins>`;
  return kind === 'note' ? html`<em>${text}</em>` : html`${text}`;
}

function getStateClass(state: GridRow['state']): string {
  if (state === 'changed') return 'tag changed';
  if (state === 'unchecked') return 'tag';
  return isFaultyState(state) ? 'tag bad' : 'tag good';
}

/** Returns the column widths: one for the inputs and one for each column of the grid. */
function renderColumnWidths(columns: number): string {
  const track = columns > 1 ? `minmax(14rem,1fr) repeat(${columns},minmax(18rem,2fr))` : '1fr 2fr';
  return `@media(min-width:50rem){.cells{display:grid;gap:1rem;grid-template-columns:${track}}}`;
}
