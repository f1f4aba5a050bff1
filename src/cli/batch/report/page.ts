import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fieldText } from '../../core/json-value.ts';
import { htmlPage, htmlText, statusFilter } from '../../outputs/html.ts';
import { type BatchTotals, hasSucceeded, type ReportedOutput, type ReportedRow } from './reported-rows.ts';

/** Larger pictures and videos are named, not shown. */
const MOST_SHOWN = 8 * 1024 * 1024;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
};

/**
 * The results as one page: inputs beside outputs, saved pictures in it, nothing loaded from elsewhere.
 *
 * @param directories where paths of saved outputs may start from
 */
export async function reportPage(
  rows: readonly ReportedRow[],
  totals: BatchTotals,
  { title, directories }: { readonly title: string; readonly directories: readonly string[] },
): Promise<string> {
  const sections: string[] = [];
  for (const row of rows) {
    sections.push(await rowSection(row, directories));
  }
  const body = [
    `<h1>${htmlText(title)}</h1>`,
    `<p>${totals.rows} rows: ${totals.succeeded} succeeded, ${totals.failed} failed; ${totals.tokens} tokens</p>`,
    failuresTable(totals),
    statusFilter(['succeeded', 'failed']),
    ...sections,
  ];
  return htmlPage({ title, style: STYLE, body: body.join('\n'), script: '' });
}

const STYLE = '.succeeded{color:#286}.failed{color:#b22}td{padding:.1rem 1rem .1rem 0}';

function failuresTable({ failures }: BatchTotals): string {
  const rows = failures.map(({ reason, rows }) => `<tr><td>${rows}</td><td>${htmlText(reason)}</td></tr>`);
  return rows.length === 0 ? '' : `<table>${rows.join('')}</table>`;
}

async function rowSection(row: ReportedRow, directories: readonly string[]): Promise<string> {
  const status = hasSucceeded(row) ? 'succeeded' : 'failed';
  const outputs: string[] = [];
  for (const output of row.outputs) {
    outputs.push(await outputHtml(output, directories));
  }
  const facts = [
    row.runId ?? 'no run',
    ...(row.seconds === null ? [] : [`${row.seconds} s`]),
    `${row.tokens} tokens`,
  ];
  const error = row.error === null ? '' : `<pre class="failed">${htmlText(row.error)}</pre>`;
  return `<section data-status="${status}"><h2>${htmlText(row.id)} <span class="${status}">${status}</span></h2>
<small>${htmlText(facts.join(', '))}</small><div class="sides">${inputsHtml(row)}<div class="side">${outputs.join('')}${error}</div></div></section>`;
}

function inputsHtml({ inputs }: ReportedRow): string {
  if (inputs === undefined) {
    return '';
  }
  const texts = Object.entries(inputs.textInputs ?? {}).map(
    ([key, value]) => `<small>${htmlText(key)}</small><pre>${htmlText(fieldText(value))}</pre>`,
  );
  const images = (inputs.imageInputs ?? []).map(image => `<pre>${htmlText(fieldText(image))}</pre>`);
  return `<div class="side">${[...texts, ...images].join('')}</div>`;
}

/** A URL of a service is shown as text and never loaded. */
async function outputHtml(
  { type, data, savedTo }: ReportedOutput,
  directories: readonly string[],
): Promise<string> {
  const shown = typeof savedTo === 'string' ? await mediaHtml(savedTo, directories) : undefined;
  return shown ?? `<pre${type === 'error' ? ' class="failed"' : ''}>${htmlText(fieldText(data))}</pre>`;
}

async function mediaHtml(file: string, directories: readonly string[]): Promise<string | undefined> {
  const type = MEDIA_TYPES[path.extname(file).toLowerCase()];
  if (type === undefined) {
    return undefined;
  }
  for (const directory of directories) {
    const bytes = await readSmall(path.resolve(directory, file)).catch(() => undefined);
    if (bytes !== undefined) {
      const url = `data:${type};base64,${bytes.toString('base64')}`;
      return type.startsWith('video/')
        ? `<video controls src="${url}"></video>`
        : `<img alt="" src="${url}">`;
    }
  }
  return undefined;
}

async function readSmall(file: string): Promise<Buffer | undefined> {
  const stats = await stat(file);
  return stats.isFile() && stats.size <= MOST_SHOWN ? readFile(file) : undefined;
}
