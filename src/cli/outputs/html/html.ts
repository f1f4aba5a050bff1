import { createHash } from 'node:crypto';
import { escapeControls } from '../../terminal/sanitise.ts';

/** HTML with all foreign text escaped; only `html` makes it. */
export class Html {
  constructor(readonly text: string) {}
}

type HtmlValue = string | number | Html | readonly Html[] | undefined;

/** Makes HTML from a template. Every value is escaped as text, numbers too, unless it is `Html`. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(escapeForHtml)));
}

function escapeForHtml(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escapeHtmlText(String(value));
  return (value ?? []).map(escapeForHtml).join('');
}

/** Escapes a text for a page or an attribute. */
export function escapeHtmlText(text: string): string {
  return escapeControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

export interface PageParts {
  readonly title: string;
  readonly body: Html;
  /** The program's own CSS and JavaScript, never foreign text. */
  readonly style: string;
  readonly script: string;
}

/** Returns a self-contained page that loads nothing, sends nothing and runs only its own script. */
export function renderHtmlPage({ title, style, body, script }: PageParts): string {
  const policy = [
    "default-src 'none'",
    'img-src data:',
    'media-src data:',
    `style-src ${computeCspHash(style)}`,
    `script-src ${computeCspHash(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtmlText(title)}</title>
<style>${style}</style>
${body.text}
<script>${script}</script>
</html>
`;
}

function computeCspHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
