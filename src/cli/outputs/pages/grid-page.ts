import type { DiffPart } from '../checks/tasks.ts';
import { type Grid, type GridCell, type GridPart, type GridRow, statesOf, worstFirst } from './grid.ts';
import { type Html, html, htmlPage } from './html.ts';

/** A grid as one page: totals of each column, then the rows, what is wrong first and open. */
export function gridPage(grid: Grid): string {
  const rows = worstFirst(grid.rows);
  const columns = grid.columns.map(({ name }) => name);
  const body = html`<header><h1>${grid.title}</h1><p>${grid.facts.join(' · ')}</p>${reasonsHtml(grid)}${totals(grid)}</header>
<nav>${statesOf(rows).map(
    ([state, count]) =>
      html`<label><input type="checkbox" value="${state}" checked> <span class="${classOf(state)}">${state}</span> ${count}</label>`,
  )}<input type="search" placeholder="Filter by words" aria-label="Filter by words"><output>${rows.length} of ${rows.length}</output></nav>
<main>${rows.map(row => rowHtml(row, columns))}</main>`;
  return htmlPage({ title: grid.title, style: STYLE + widths(columns.length), body, script: SCRIPT });
}

function totals({ measures, columns }: Grid): Html | undefined {
  if (measures.length === 0) return undefined;
  const names = columns.length > 1 ? [html`<th></th>`] : [];
  return html`<div class="totals"><table><tr>${names}${measures.map(name => html`<th>${name}</th>`)}</tr>${columns.map(
    ({ name, totals: values }) =>
      html`<tr>${names.length > 0 ? [html`<th>${name}</th>`] : []}${values.map(value => html`<td>${value}</td>`)}</tr>`,
  )}</table></div>`;
}

/** What is wrong at a glance: what a stranger reads first. */
function reasonsHtml({ reasons }: Grid): Html[] {
  if (reasons.length === 0) return [];
  const more = reasons.length - MOST_REASONS;
  const lines = reasons.slice(0, MOST_REASONS).map(reason => html`<li>${reason}</li>`);
  return [html`<ul class="bad">${lines}${more > 0 ? [html`<li>… and ${more} more</li>`] : []}</ul>`];
}

const MOST_REASONS = 10;

function rowHtml(row: GridRow, columns: readonly string[]): Html {
  const open = ['passed', 'same', 'succeeded'].includes(row.state) ? '' : ' open';
  const [first] = row.inputs;
  const hint = first === undefined ? '' : `${first[0]}: ${first[1].slice(0, 80)}`;
  const place = row.place === undefined ? [] : [html` <small>${row.place}</small>`];
  return html`<details data-state="${row.state}"${open}><summary><span class="${classOf(row.state)}">${row.state}</span> <b>${row.name}</b>${place} <small>${hint}</small></summary>
<div class="cells">${inputsHtml(row)}${row.cells.map((cell, at) => cellHtml(cell, columns.length > 1 ? columns[at] : undefined))}</div></details>`;
}

function inputsHtml({ inputs }: GridRow): Html[] {
  if (inputs.length === 0) return [];
  return [
    html`<section><h3>Inputs</h3>${inputs.map(([name, value]) => html`<small>${name}</small><pre>${value}</pre>`)}</section>`,
  ];
}

function cellHtml(cell: GridCell | undefined, column: string | undefined): Html {
  const heading = column === undefined ? [] : [html`<h3>${column}</h3>`];
  if (cell === undefined) return html`<section>${heading}</section>`;
  const state =
    column === undefined ? [] : [html`<span class="${classOf(cell.state)}">${cell.state}</span> `];
  return html`<section>${heading}<p>${state}<small>${cell.facts.join(', ')}</small></p>${cell.parts.map(partHtml)}</section>`;
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

function classOf(state: GridRow['state']): string {
  if (state === 'changed') return 'tag changed';
  return state === 'failed' || state === 'not run' ? 'tag bad' : 'tag good';
}

/** A column for the inputs and one for each of the grid, side by side where there is room. */
function widths(columns: number): string {
  const track = columns > 1 ? `minmax(14rem,1fr) repeat(${columns},minmax(18rem,2fr))` : '1fr 2fr';
  return `@media(min-width:50rem){.cells{display:grid;gap:1rem;grid-template-columns:${track}}}`;
}

const STYLE = `:root{--ink:#1d2330;--dim:#606876;--line:#d9dde5;--back:#fff;--soft:#f4f6f9;--good:#1b7a43;--bad:#b3261e;--changed:#8a5a00;--del:#fbd5d2;--ins:#cdeed7}
@media(prefers-color-scheme:dark){:root{--ink:#e4e7ee;--dim:#9aa3b2;--line:#353c49;--back:#14171d;--soft:#1d222b;--good:#5fd08f;--bad:#ff8a80;--changed:#f2b84b;--del:#5c2524;--ins:#1d4a2e}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:110rem;padding:1rem;color:var(--ink);background:var(--back)}
h1{font-size:1.4rem;margin:.2rem 0}h3{font-size:.95rem;margin:0 0 .2rem;overflow-wrap:anywhere}p{margin:.2rem 0}small,th{color:var(--dim);font-weight:400}
.totals{overflow-x:auto}table{border-collapse:collapse}td,th{padding:.15rem 1.2rem .15rem 0;text-align:left;white-space:nowrap;font-variant-numeric:tabular-nums}
ul{margin:.4rem 0;padding-left:1.2rem}li{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;overflow-wrap:anywhere}
nav{position:sticky;top:0;display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;padding:.6rem 0;background:var(--back);border-bottom:1px solid var(--line)}
nav input[type=search]{flex:1 1 10rem;max-width:22rem;font:inherit;padding:.3rem .6rem;color:inherit;background:var(--soft);border:1px solid var(--line);border-radius:6px}
details{border-bottom:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer;overflow-wrap:anywhere}:focus-visible{outline:2px solid var(--changed);outline-offset:2px}
.cells{padding:.5rem 0;overflow-x:auto}.cells>section:only-child{grid-column:1/-1}section{min-width:0;margin-bottom:.8rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.5rem .7rem;border-radius:6px;margin:.2rem 0;max-height:30rem;overflow:auto;font:13px/1.45 ui-monospace,monospace}
img,video{max-width:100%;max-height:24rem;border-radius:6px;background:var(--soft)}.tag{font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}.changed{color:var(--changed)}
del{background:var(--del);text-decoration-thickness:1px}ins{background:var(--ins);text-decoration:none}[hidden]{display:none!important}
`;

const SCRIPT = `const rows=[...document.querySelectorAll('main>details')],boxes=[...document.querySelectorAll('nav [type=checkbox]')],words=document.querySelector('[type=search]'),shown=document.querySelector('nav output');
const filter=()=>{const states=new Set(boxes.filter(box=>box.checked).map(box=>box.value)),wanted=words.value.toLowerCase().split(/\\s+/).filter(Boolean);let count=0;
for(const row of rows){const text=row.textContent.toLowerCase();row.hidden=!states.has(row.dataset.state)||!wanted.every(word=>text.includes(word));if(!row.hidden)count++}
shown.value=count+' of '+rows.length};
document.querySelector('nav').addEventListener('input',filter);filter();`;
