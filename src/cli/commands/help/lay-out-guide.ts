import type { ChalkInstance } from 'chalk';
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { lexer, type Token, type Tokens } from 'marked';
import { layOutTable } from '../../terminal/table.ts';
import { wrapCommand, wrapLines } from '../../terminal/wrap-lines.ts';

export interface GuideLayout {
  /** The width of the terminal. */
  readonly columns: number;
  readonly paint: ChalkInstance;
  /**
   * Returns the command that shows the target of a relative link; undefined to show only the link's
   * text.
   */
  readonly findLinkCommand: (href: string) => string | undefined;
}

/** Maximum width of a guide, on any terminal. */
const MAX_GUIDE_WIDTH = 100;
const GUIDE_INDENT = 2;

/** Lays out a guide in Markdown for a terminal: paragraphs flow, and no word is broken. */
export async function layOutGuide(markdown: string, layout: GuideLayout): Promise<string> {
  const columns = Math.min(layout.columns, MAX_GUIDE_WIDTH);
  return `${await renderBlocks(lexer(markdown), { ...layout, columns }, '\n\n')}\n`;
}

async function renderBlocks(
  tokens: readonly Token[],
  layout: GuideLayout,
  separator: string,
): Promise<string> {
  const texts = await Promise.all(tokens.map(token => renderBlock(token, layout)));
  return texts.filter(text => text !== '').join(separator);
}

async function renderBlock(token: Token, layout: GuideLayout): Promise<string> {
  const { columns, paint } = layout;
  switch (token.type) {
    case 'heading':
      return wrapAnsi(paint.bold(renderInline(getChildTokens(token), layout)), columns);
    case 'code':
      return renderCode(token as Tokens.Code, layout);
    case 'list':
      return renderList(token as Tokens.List, layout);
    case 'table':
      return renderTable(token as Tokens.Table, layout);
    case 'blockquote':
      return indentItem(
        await renderBlocks(getChildTokens(token), indentLayout(layout, GUIDE_INDENT), '\n\n'),
        ' '.repeat(GUIDE_INDENT),
      );
    case 'space':
    case 'hr':
    case 'html':
      return '';
    default:
      return wrapAnsi(renderInline(getChildTokens(token), layout), columns);
  }
}

function getChildTokens(token: Token): readonly Token[] {
  return 'tokens' in token && token.tokens !== undefined ? token.tokens : [];
}

function indentLayout(layout: GuideLayout, indent: number): GuideLayout {
  return { ...layout, columns: layout.columns - indent };
}

function indentItem(text: string, marker: string): string {
  const indent = ' '.repeat(marker.length);
  return text
    .split('\n')
    .map((line, index) => (line === '' ? '' : (index === 0 ? marker : indent) + line))
    .join('\n');
}

function renderInline(tokens: readonly Token[], layout: GuideLayout): string {
  return tokens.map(token => renderInlineToken(token, layout)).join('');
}

function renderInlineToken(token: Token, layout: GuideLayout): string {
  const { paint } = layout;
  switch (token.type) {
    case 'strong':
      return paint.bold(renderInline(getChildTokens(token), layout));
    case 'em':
      return paint.italic(renderInline(getChildTokens(token), layout));
    case 'codespan':
      return paint.cyan((token as Tokens.Codespan).text);
    case 'link': {
      const { href } = token as Tokens.Link;
      const text = renderInline(getChildTokens(token), layout);
      const destination = /^https?:/u.test(href) ? href : layout.findLinkCommand(href);
      return destination === undefined || destination === text
        ? text
        : `${text} (${paint.cyan(destination)})`;
    }
    case 'br':
      return '\n';
    default:
      return 'text' in token && typeof token.text === 'string'
        ? token.text.replaceAll('\n', ' ')
        : token.raw;
  }
}

function renderCode({ text, lang }: Tokens.Code, { columns, paint }: GuideLayout): string {
  const isShell = lang === 'sh' || lang === 'bash';
  return text
    .split('\n')
    .map(line => (isShell ? wrapCommand(`  ${line}`, columns) : wrapLines(`  ${line}`, columns)))
    .map(line => paint.cyan(line))
    .join('\n');
}

async function renderList(
  { items, ordered, start, loose }: Tokens.List,
  layout: GuideLayout,
): Promise<string> {
  const separator = loose ? '\n\n' : '\n';
  const texts = await Promise.all(
    items.map(async ({ tokens }, index) => {
      const marker = ordered ? `${Number(start) + index}. ` : '- ';
      const itemLayout = indentLayout(layout, marker.length);
      return indentItem(await renderBlocks(tokens, itemLayout, separator), marker);
    }),
  );
  return texts.join(separator);
}

/** Lays out a table in columns, or row by row if columns would break a word. */
async function renderTable({ header, rows }: Tokens.Table, layout: GuideLayout): Promise<string> {
  const titles = header.map(({ tokens }) => layout.paint.bold(renderInline(tokens, layout)));
  const cells = rows.map(row => row.map(({ tokens }) => renderInline(tokens, layout)));
  const widths = computeColumnWidths([titles, ...cells], layout.columns);
  if (widths === undefined) return renderRowByRow(titles, cells, layout);

  const wrapRow = (row: readonly string[]) =>
    row.map((cell, index) => wrapAnsi(cell, widths[index] ?? 1));
  const wrappedRows = cells.map(wrapRow);
  const hasWrappedCells = wrappedRows.some(row => row.some(cell => cell.includes('\n')));
  const spacedRows = wrappedRows.flatMap((row, index) =>
    hasWrappedCells && index > 0 ? [row.map(() => ''), row] : [row],
  );

  const hasTitles = titles.some(title => stringWidth(title) > 0);
  const tableRows = hasTitles ? [wrapRow(titles), ...spacedRows] : spacedRows;
  return (await layOutTable(tableRows, {})).trimEnd();
}

/** Returns the width of each column; undefined if their longest words don't fit side by side. */
function computeColumnWidths(
  rows: readonly (readonly string[])[],
  columns: number,
): number[] | undefined {
  const widths = computeColumnMaxima(rows, stringWidth);
  const minWidths = computeColumnMaxima(rows, measureLongestWord);
  const availableWidth = columns - GUIDE_INDENT * (widths.length - 1);
  for (let excess = sumWidths(widths) - availableWidth; excess > 0; excess -= 1) {
    const shrinkableWidths = widths.map((width, index) =>
      width > (minWidths[index] ?? 0) ? width : 0,
    );
    const widest = Math.max(...shrinkableWidths);
    if (widest === 0) return undefined;
    widths[shrinkableWidths.indexOf(widest)] = widest - 1;
  }

  return widths;
}

/** Returns the largest value that `measure` returns for the cells of each column. */
function computeColumnMaxima(
  rows: readonly (readonly string[])[],
  measure: (cell: string) => number,
): number[] {
  const count = Math.max(...rows.map(row => row.length));
  return Array.from({ length: count }, (_, index) =>
    Math.max(...rows.map(row => measure(row[index] ?? ''))),
  );
}

function measureLongestWord(cell: string): number {
  return Math.max(...cell.split(/\s+/u).map(word => stringWidth(word)));
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

/** Renders each row as a paragraph: its first cell, then the others, each with its title. */
function renderRowByRow(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, paint }: GuideLayout,
): string {
  return rows
    .map(([rowTitle = '', ...cells]) => {
      const facts = cells.map((cell, index) => {
        const title = titles[index + 1] ?? '';
        const text = stringWidth(title) === 0 ? cell : `${title}: ${cell}`;
        return indentItem(wrapAnsi(text, columns - GUIDE_INDENT), ' '.repeat(GUIDE_INDENT));
      });
      return [wrapAnsi(paint.bold(rowTitle), columns), ...facts].join('\n');
    })
    .join('\n\n');
}
