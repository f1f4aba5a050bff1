import { visible } from '../terminal/sanitise.ts';

/** A text as text of a page, whatever is in it. */
export function htmlText(text: string): string {
  return visible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The parts of a page; all but the title are HTML, CSS and JavaScript of this program's own. */
export interface PageParts {
  /** Plain text. */
  readonly title: string;
  readonly style: string;
  readonly body: string;
  readonly script: string;
}

/** A page of one file that loads nothing from anywhere. */
export function htmlPage({ title, style, body, script }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${htmlText(title)}</title>
<style>${STYLE}${style}</style>
${body}
<script>${FILTER}${script}</script>
</html>
`;
}

/** A choice that shows only the elements with that `data-status`. */
export function statusFilter(statuses: readonly string[]): string {
  const options = statuses.map(status => `<option>${htmlText(status)}</option>`);
  return `<p><label>Show <select id="filter"><option value="">all</option>${options.join('')}</select></label></p>`;
}

const POLICY =
  "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;color:#222;background:#fff}
section{border-top:1px solid #ccc;padding:1rem 0}.sides{display:flex;gap:1rem;flex-wrap:wrap}.side{flex:1 1 20rem;min-width:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f6f6;padding:.6rem;border-radius:4px;margin:.3rem 0}
img,video{max-width:100%}small{color:#666}[hidden]{display:none}
`;

const FILTER = `document.getElementById('filter')?.addEventListener('change',function(e){for(const s of document.querySelectorAll('[data-status]'))s.hidden=e.target.value!==''&&s.dataset.status!==e.target.value});`;
