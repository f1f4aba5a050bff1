import { toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { Context } from '../context.ts';
import { escapeControls, toOneLine } from '../terminal/sanitise.ts';
import {
  type Cell,
  formatPlainRows,
  renderTerminalTable,
  type TableColumn,
} from '../terminal/table.ts';
import { printValue } from './print-json.ts';

/** The forms of one result; only the requested one is made. */
export interface ResultForms {
  /** Returns tab-separated lines without a header, for programs. */
  readonly plain: () => string | Promise<string>;
  /** Returns sanitised text for people; default: the plain form, sanitised. */
  readonly terminal?: () => string | Promise<string>;
  /** True to page a result that is longer than the screen; default false. */
  readonly paged?: boolean;
}

/**
 * Shows a result: as JSON if requested, in the terminal's form on a terminal, else in the plain
 * form.
 */
export async function present(ctx: Context, value: unknown, forms: ResultForms): Promise<void> {
  if (ctx.globals.json) return printValue(ctx, value);

  if (!ctx.io.stdout.isTerminal) {
    await ctx.io.out(withFinalNewline(await forms.plain()));
    return;
  }

  const terminalText =
    forms.terminal === undefined ? escapeControls(await forms.plain()) : await forms.terminal();
  const text = withFinalNewline(terminalText);
  if (forms.paged !== true) {
    await ctx.io.out(text);
    return;
  }

  const { showInPager } = await import('../terminal/pager.ts');
  await showInPager(ctx, text, ctx.settings.get('pager'));
}

export interface ListColumn<T> extends TableColumn {
  readonly cell: (item: T) => Cell;
  /** Returns the cell for programs if it differs; null shows the column only to people. */
  readonly plain?: ((item: T) => Cell) | null;
}

/** The form of a list for people and for programs. */
export interface ListForm<T> {
  readonly columns: readonly ListColumn<T>[];
  /** Returns the cells of an item for programs; default: those of the columns. */
  readonly cells?: (item: T) => readonly Cell[];
  /** The text on a terminal for an empty list; default: the header alone. */
  readonly emptyText?: string;
}

/**
 * Shows a list: as JSON, as a table on a terminal, else one line per item.
 *
 * @param value the value to print as JSON instead of the items
 */
export function presentList<T>(
  ctx: Context,
  items: readonly T[],
  { columns, cells = createCellFormatter(columns), emptyText }: ListForm<T>,
  value: unknown = items,
): Promise<void> {
  const toCells = (item: T): Cell[] => columns.map(({ cell }) => cell(item));
  return present(ctx, value, {
    terminal: () =>
      items.length === 0 && emptyText !== undefined
        ? emptyText
        : renderTerminalTable(ctx.io, columns, items.map(toCells)),
    plain: () => formatPlainRows(items.map(cells)),
    paged: true,
  });
}

export function createCellFormatter<T>(columns: readonly ListColumn<T>[]): (item: T) => Cell[] {
  return item => columns.flatMap(({ cell, plain = cell }) => (plain === null ? [] : [plain(item)]));
}

/**
 * Shows one thing: as labelled lines for people, without those that have no text, and as fields for
 * programs.
 */
export function presentFacts(
  ctx: Context,
  facts: object,
  lines: readonly (readonly [label: string, text: string | undefined])[],
): Promise<void> {
  const shownLines = lines.filter(([, text]) => text !== undefined);
  const width = Math.max(...shownLines.map(([label]) => label.length)) + 2;
  return present(ctx, facts, {
    terminal: () =>
      shownLines.map(([label, text = '']) => `${label.padEnd(width)}${toOneLine(text)}\n`).join(''),
    plain: () =>
      formatPlainRows(Object.entries(facts).map(([key, value]) => [key, toTextOrEmpty(value)])),
  });
}

function withFinalNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Reports what an action did: with a note for people, with the facts as JSON if requested. */
export async function reportOutcome(ctx: Context, facts: object, note: string): Promise<void> {
  if (ctx.globals.json) {
    await printValue(ctx, facts);
  } else {
    ctx.io.note(note);
  }
}
