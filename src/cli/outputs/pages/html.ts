import { createHash } from 'node:crypto';
import { visible } from '../../terminal/sanitise.ts';

/** HTML of this program's own, with everything else in it escaped; made by `html` alone. */
export class Html {
  constructor(readonly text: string) {}
}

type HtmlValue = string | number | Html | readonly Html[] | undefined;

/** HTML from a template: whatever is put into it is text, numbers too, unless it is HTML that `html` made. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(escaped)));
}

function escaped(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return htmlText(String(value));
  return (value ?? []).map(escaped).join('');
}

/** A text as text of a page or the value of an attribute, whatever is in it. */
export function htmlText(text: string): string {
  return visible(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** The parts of a page. */
export interface PageParts {
  readonly title: string;
  readonly body: Html;
  /** CSS and JavaScript of this program's own: nothing that came from elsewhere. */
  readonly style: string;
  readonly script: string;
}

/** A page of one file that loads nothing, sends nothing and runs no script but its own. */
export function htmlPage({ title, style, body, script }: PageParts): string {
  const policy = [
    "default-src 'none'",
    'img-src data:',
    'media-src data:',
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(title)}</title>
<style>${style}</style>
${body.text}
<script>${script}</script>
</html>
`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
