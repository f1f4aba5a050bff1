import type { DiffPart } from '../../checks/check-tasks.ts';
import { type Grid, type GridCell, type GridPart, isFaultyState, sortWorstFirst } from './grid.ts';
import { escapeHtmlText } from './html.ts';

const ICONS = {
  passed: '✅',
  succeeded: '✅',
  same: '✅',
  changed: '✏️',
  failed: '❌',
  undecided: '❔',
  unchecked: '⏭️',
  'not run': '⚠️',
} as const;

/** Maximum length of a text, in characters. */
const MAX_CELL_LENGTH = 10_000;

/** Room for the note about what was left out, in characters. */
const MAX_NOTE_LENGTH = 200;

/**
 * Formats a grid for a GitHub comment or summary: a table of all rows, then the faults. Uses blocks
 * of HTML, in which nothing is Markdown, and counts what doesn't fit.
 *
 * @param maxLength the maximum number of characters
 */
export function renderGridMarkdown(grid: Grid, maxLength: number): string {
  const rows = sortWorstFirst(grid.rows);
  const heading = `### ${escapeForMarkdown(grid.title)}\n\n${grid.facts.map(escapeForMarkdown).join(' · ')}\n\n`;
  const columns = grid.columns.map(({ name }) => `<th>${escapeForMarkdown(name)}</th>`).join('');
  const head = grid.columns.length > 1 ? `<tr><th></th><th></th>${columns}</tr>` : '';
  const lines = rows.map(
    ({ name, place = '', cells }) =>
      `<tr><td>${escapeForMarkdown(place)}</td><td>${escapeForMarkdown(name)}</td>${cells.map(renderMarkdownCell).join('')}</tr>`,
  );
  const details = rows
    .filter(({ state }) => isFaultyState(state) || state === 'changed')
    .map(({ name, cells }) => {
      const text = cells
        .flatMap((cell, index) => formatCellLines(cell, grid.columns[index]?.name ?? ''))
        .join('\n');
      return `<details><summary>${escapeForMarkdown(name)}</summary><pre>${escapeForMarkdown(text)}</pre></details>\n`;
    });

  const availableLength = maxLength - heading.length - head.length - MAX_NOTE_LENGTH;
  const shownLines = pickFirstFitting(lines, availableLength / 2);
  const tableLength = shownLines.reduce((sum, { length }) => sum + length, 0);
  const shownDetails = pickFirstFitting(details, availableLength - tableLength);
  const table = `<table>${head}${shownLines.join('')}</table>\n\n`;
  const leftOutNote = formatLeftOut(
    lines.length - shownLines.length,
    details.length - shownDetails.length,
  );

  return heading + table + shownDetails.join('\n') + leftOutNote;
}

function formatLeftOut(rowCount: number, detailCount: number): string {
  if (rowCount + detailCount === 0) return '';
  return `\nLeft out, since this can be no longer: ${rowCount} rows of the table and the details of ${detailCount}.\n`;
}

function renderMarkdownCell(cell: GridCell | undefined): string {
  return cell === undefined
    ? '<td></td>'
    : `<td>${ICONS[cell.state]} ${cell.facts.map(escapeForMarkdown).join(', ')}</td>`;
}

function formatCellLines(cell: GridCell | undefined, column: string): string[] {
  if (cell === undefined || !(isFaultyState(cell.state) || cell.state === 'changed')) return [];
  return [...(column === '' ? [] : [`${column}:`]), ...cell.parts.map(formatPart)];
}

function formatPart(part: GridPart): string {
  if (part.kind === 'media') return '(a picture)';
  return part.kind === 'difference' ? part.parts.map(formatDifference).join('') : part.text;
}

function formatDifference({ kind, text }: DiffPart): string {
  if (kind === 'removed') return `[-${text}-]`;
  return kind === 'added' ? `{+${text}+}` : text;
}

/**
 * Escapes text for HTML inside Markdown: an empty line would end the block of HTML, and an @ would
 * mention a user.
 */
function escapeForMarkdown(text: string): string {
  const hiddenCount = text.length - MAX_CELL_LENGTH;
  const shownText =
    hiddenCount > 0 ? `${text.slice(0, MAX_CELL_LENGTH)}… (${hiddenCount} more characters)` : text;
  return escapeHtmlText(shownText).replaceAll('\n', '&#10;').replaceAll('@', '@\u2060');
}

/** Returns as many of the first texts as fit. */
function pickFirstFitting(texts: readonly string[], maxLength: number): string[] {
  let remainingLength = maxLength;
  const firstLeftOut = texts.findIndex(text => {
    remainingLength -= text.length + 1;
    return remainingLength < 0;
  });
  return firstLeftOut < 0 ? [...texts] : texts.slice(0, firstLeftOut);
}
