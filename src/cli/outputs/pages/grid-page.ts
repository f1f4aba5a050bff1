import { builtText } from '../../../files/installed/installed-file.ts';
import type { DiffPart } from '../../checks/check-tasks.ts';
import {
  countStates,
  flakyFirst,
  type Grid,
  type GridCell,
  type GridPart,
  type GridRange,
  type GridRow,
  isFaultyState,
  worstFirst,
} from './grid.ts';
import { type Html, html, htmlPage } from './html.ts';

/** Formats a grid as a page: totals of each column, then the rows, flaky and faulty ones first and open. */
export function gridPage(grid: Grid): string {
  const rows = flakyFirst(worstFirst(grid.rows));
  const columns = grid.columns.map(({ name }) => name);
  const body = html`<header><h1>${grid.title}</h1><p>${grid.facts.join(' · ')}</p>${rangesHtml(grid)}${reasonsHtml(grid)}${totals(grid)}</header>
<nav>${countStates(rows).map(
    ([state, count]) =>
      html`<label><input type="checkbox" value="${state}" checked> <span class="${stateClass(state)}">${state}</span> ${count}</label>`,
  )}<input type="search" placeholder="Filter by words" aria-label="Filter by words"><output>${rows.length} of ${rows.length}</output></nav>
<main>${rows.map(row => rowHtml(row, columns))}</main>`;
  return htmlPage({
    title: grid.title,
    style: builtText('page/report.css') + columnWidthStyle(columns.length),
    body,
    script: builtText('page/report.js'),
  });
}

function rangesHtml({ ranges = [] }: Pick<Grid, 'ranges'>): Html[] {
  return ranges.length === 0 ? [] : [html`<div class="ranges">${ranges.map(rangeHtml)}</div>`];
}

/** Draws an interval as a bar on its scale, with its value and the one to compare with as lines. */
function rangeHtml({ label, text, value, interval, min: lowest, mark, tone }: GridRange): Html {
  const at = (position: number): string => `${(((position - lowest) / (1 - lowest)) * 100).toFixed(2)}%`;
  const [low, high] = interval;
  const width = `${(((high - low) / (1 - lowest)) * 100).toFixed(2)}%`;
  const line = (position: number, name: string): Html =>
    html`<line class="${name}" x1="${at(position)}" x2="${at(position)}" y1="0" y2="100%"/>`;
  return html`<figure><figcaption><b>${label}</b> ${text}</figcaption><svg class="${tone}" role="img" aria-label="${`${label}: ${text}`}"><rect class="scale" width="100%" height="100%"/><rect class="interval" x="${at(low)}" width="${width}" height="100%"/>${mark === undefined ? [] : [line(mark, 'mark')]}${line(value, 'value')}</svg></figure>`;
}

function totals({ measures, columns }: Grid): Html | undefined {
  if (measures.length === 0) return undefined;
  const names = columns.length > 1 ? [html`<th></th>`] : [];
  return html`<div class="totals"><table><tr>${names}${measures.map(name => html`<th>${name}</th>`)}</tr>${columns.map(
    ({ name, totals: values }) =>
      html`<tr>${names.length > 0 ? [html`<th>${name}</th>`] : []}${values.map(value => html`<td>${value}</td>`)}</tr>`,
  )}</table></div>`;
}

/** Returns a summary of the faults for the top of the page. */
function reasonsHtml({ reasons }: Grid): Html[] {
  if (reasons.length === 0) return [];
  const hiddenCount = reasons.length - MAX_REASONS;
  const lines = reasons.slice(0, MAX_REASONS).map(reason => html`<li>${reason}</li>`);
  return [
    html`<ul class="bad">${lines}${hiddenCount > 0 ? [html`<li>… and ${hiddenCount} more</li>`] : []}</ul>`,
  ];
}

const MAX_REASONS = 10;

function rowHtml(row: GridRow, columns: readonly string[]): Html {
  const isOpen = row.isFlaky || !['passed', 'same', 'succeeded'].includes(row.state);
  const headings = columns.length > 1 ? columns : [];
  return html`<details data-state="${row.state}"${isOpen ? ' open' : ''}>${summaryHtml(row)}
<div class="cells">${inputsHtml(row)}${expectedHtml(row)}${row.cells.map((cell, index) => cellHtml(cell, headings[index]))}</div></details>`;
}

function summaryHtml(row: GridRow): Html {
  const [first] = row.inputs;
  const hint = first === undefined ? '' : `${first[0]}: ${first[1].slice(0, 80)}`;
  const flaky = row.isFlaky ? [html` <span class="tag changed">flaky</span>`] : [];
  const placeHtml = row.place === undefined ? [] : [html` <small>${row.place}</small>`];
  return html`<summary><span class="${stateClass(row.state)}">${row.state}</span>${flaky} <b>${row.name}</b>${placeHtml} <small>${hint}</small></summary>`;
}

function inputsHtml({ inputs }: GridRow): Html[] {
  if (inputs.length === 0) return [];
  return [
    html`<section><h3>Inputs</h3>${inputs.map(([name, value]) => html`<small>${name}</small><pre>${value}</pre>`)}</section>`,
  ];
}

function expectedHtml({ expected = [] }: GridRow): Html[] {
  if (expected.length === 0) return [];
  return [html`<section><h3>Expected</h3>${expected.map(text => html`<pre>${text}</pre>`)}</section>`];
}

function cellHtml(cell: GridCell | undefined, column: string | undefined): Html {
  const heading = column === undefined ? [] : [html`<h3>${column}</h3>`];
  if (cell === undefined) return html`<section>${heading}</section>`;
  const state =
    column === undefined ? [] : [html`<span class="${stateClass(cell.state)}">${cell.state}</span> `];
  return html`<section>${heading}<p>${state}<small>${cell.facts.join(', ')}</small></p>${rangesHtml(cell)}${cell.parts.map(partHtml)}</section>`;
}

function partHtml(part: GridPart): Html {
  switch (part.kind) {
    case 'media':
      if (part.url === undefined) return html`<p><small>not shown</small></p>`;
      return part.url.startsWith('data:video/')
        ? html`<video controls src="${part.url}"></video>`
        : html`<img alt="" src="${part.url}">`;
    case 'difference':
      return html`<pre>${part.parts.map(differenceHtml)}</pre>`;
    case 'message':
      return html`<p class="bad">${part.text}</p>`;
    case 'error':
      return html`<pre class="bad">${part.text}</pre>`;
    case 'text':
    default:
      return html`<pre>${part.text}</pre>`;
  }
}

function differenceHtml({ kind, text }: DiffPart): Html {
  if (kind === 'removed') return html`<del>${text}</del>`;
  if (kind === 'added') return html`<ins>${text}</ins>`;
  return kind === 'note' ? html`<em>${text}</em>` : html`${text}`;
}

function stateClass(state: GridRow['state']): string {
  if (state === 'changed') return 'tag changed';
  if (state === 'unchecked') return 'tag';
  return isFaultyState(state) ? 'tag bad' : 'tag good';
}

/** Returns the column widths: one for the inputs and one for each column of the grid. */
function columnWidthStyle(columns: number): string {
  const track = columns > 1 ? `minmax(14rem,1fr) repeat(${columns},minmax(18rem,2fr))` : '1fr 2fr';
  return `@media(min-width:50rem){.cells{display:grid;gap:1rem;grid-template-columns:${track}}}`;
}
