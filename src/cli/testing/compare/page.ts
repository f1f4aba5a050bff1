import { visible } from '../../terminal/sanitise.ts';
import { type ComparedRow, mediaUrls, shownText, type VariantResult, verdictOn } from './comparison.ts';
import type { Variant } from './variants.ts';
import { type DiffPart, wordDiff } from './word-diff.ts';

/** The comparison as one page that loads nothing; whatever came from a service is text in it. */
export async function comparisonPage(
  rows: readonly ComparedRow[],
  variants: readonly Variant[],
): Promise<string> {
  const counts = (['same', 'changed', 'failed'] as const).map(
    verdict => `${rows.filter(row => verdictOn(row) === verdict).length} ${verdict}`,
  );
  const sections = await Promise.all(rows.map(row => rowSection(row, variants)));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Comparison of prompts</title>
<style>${STYLE}</style>
<h1>${html(variants.map(({ name }) => name).join(' and '))}</h1>
<p>${counts.join(', ')}</p>
<p><label>Show <select id="filter"><option value="">all</option><option>same</option><option>changed</option><option>failed</option></select></label></p>
${sections.join('\n')}
<script>${SCRIPT}</script>
</html>
`;
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;color:#222;background:#fff}
section{border-top:1px solid #ccc;padding:1rem 0}.sides{display:flex;gap:1rem;flex-wrap:wrap}.side{flex:1 1 20rem;min-width:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f6f6;padding:.6rem;border-radius:4px}
img,video{max-width:100%}del{background:#fdd}ins{background:#dfd;text-decoration:none}.same{color:#286}.changed{color:#a60}.failed{color:#b22}
small{color:#666}[hidden]{display:none}`;

const SCRIPT = `document.getElementById('filter').addEventListener('change',function(e){for(const s of document.querySelectorAll('section'))s.hidden=e.target.value!==''&&s.dataset.verdict!==e.target.value})`;

async function rowSection(row: ComparedRow, variants: readonly Variant[]): Promise<string> {
  const verdict = verdictOn(row);
  const inputs = Object.entries(row.inputs).map(([key, value]) => `${key}: ${value}`);
  const sides = await Promise.all(
    row.results.map((result, at) =>
      side(variants[at]?.name ?? '', result, at === 0 ? undefined : row.results[0]),
    ),
  );
  return `<section data-verdict="${verdict}"><h2>${html(row.id)} <span class="${verdict}">${verdict}</span></h2>
<pre>${html(inputs.join('\n'))}</pre><div class="sides">${sides.join('')}</div></section>`;
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
  return `<div class="side"><h3>${html(name)}</h3><small>${facts.join(', ')}</small><pre>${parts.map(marked).join('')}</pre>${media(result)}</div>`;
}

function marked({ kind, text }: DiffPart): string {
  const tag = { same: '', removed: 'del', added: 'ins' }[kind];
  return tag === '' ? html(text) : `<${tag}>${html(text)}</${tag}>`;
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

function html(text: string): string {
  return visible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
