import { htmlPage, htmlText, statusFilter } from '../../outputs/html.ts';
import {
  type ComparedRow,
  type DiffPart,
  mediaUrls,
  shownText,
  type VariantResult,
  verdictOn,
  wordDiff,
} from './comparison.ts';
import type { Variant } from './variants.ts';

/** The comparison as one page that loads nothing; whatever came from a service is text in it. */
export async function comparisonPage(
  rows: readonly ComparedRow[],
  variants: readonly Variant[],
): Promise<string> {
  const counts = (['same', 'changed', 'failed'] as const).map(
    verdict => `${rows.filter(row => verdictOn(row) === verdict).length} ${verdict}`,
  );
  const sections = await Promise.all(rows.map(row => rowSection(row, variants)));
  const names = variants.map(({ name }) => name).join(' and ');
  const heading = `<h1>${htmlText(names)}</h1><p>${counts.join(', ')}</p>`;
  return htmlPage({
    title: 'Comparison of prompts',
    style: STYLE,
    body: `${heading}${statusFilter(['same', 'changed', 'failed'])}\n${sections.join('\n')}`,
    script: '',
  });
}

const STYLE =
  'del{background:#fdd}ins{background:#dfd;text-decoration:none}.same{color:#286}.changed{color:#a60}.failed{color:#b22}';

async function rowSection(row: ComparedRow, variants: readonly Variant[]): Promise<string> {
  const verdict = verdictOn(row);
  const inputs = Object.entries(row.inputs).map(([key, value]) => `${key}: ${value}`);
  const sides = await Promise.all(
    row.results.map((result, at) =>
      side(variants[at]?.name ?? '', result, at === 0 ? undefined : row.results[0]),
    ),
  );
  return `<section data-status="${verdict}"><h2>${htmlText(row.id)} <span class="${verdict}">${verdict}</span></h2>
<pre>${htmlText(inputs.join('\n'))}</pre><div class="sides">${sides.join('')}</div></section>`;
}

async function side(name: string, result: VariantResult, first: VariantResult | undefined): Promise<string> {
  const text = shownText(result);
  const parts: readonly DiffPart[] =
    first === undefined ? [{ kind: 'same', text }] : await wordDiff(shownText(first), text);
  const facts = [
    `${result.seconds.toFixed(1)} s`,
    `${result.run?.tokens ?? '–'} tokens`,
    `${result.credits ?? '–'} credits`,
  ];
  return `<div class="side"><h3>${htmlText(name)}</h3><small>${facts.join(', ')}</small><pre>${parts.map(marked).join('')}</pre>${media(result)}</div>`;
}

function marked({ kind, text }: DiffPart): string {
  const tag = { same: '', removed: 'del', added: 'ins' }[kind];
  return tag === '' ? htmlText(text) : `<${tag}>${htmlText(text)}</${tag}>`;
}

/** Only bytes that are part of the page: a URL of a service is never loaded. */
function media({ run, media: contents }: VariantResult): string {
  return mediaUrls(run?.outputs ?? [])
    .map(url => contents.get(url)?.dataUrl)
    .map(dataUrl => {
      if (dataUrl === undefined) {
        return '<p><small>not shown</small></p>';
      }
      return dataUrl.startsWith('data:video/')
        ? `<video controls src="${dataUrl}"></video>`
        : `<img alt="" src="${dataUrl}">`;
    })
    .join('');
}
