import type { Context } from '../context.ts';
import { fieldText } from '../core/json-value.ts';
import { oneLine, visible } from '../terminal/sanitise.ts';
import { type Cell, type Column, plainRows, terminalTable } from '../terminal/table.ts';
import { printValue, wantsJson } from './json.ts';

/** The forms of one result; each is made only when it is the one asked for. */
export interface Forms {
  /** For programs: tab-separated lines without a header. */
  readonly plain: () => string | Promise<string>;
  /** For people: tables, words. Must be sanitised. By default the same as for programs, made inert. */
  readonly terminal?: () => string | Promise<string>;
  /** Whether a result longer than the screen goes through the pager. Default false. */
  readonly paged?: boolean;
}

/** Shows a result: JSON if asked for, the terminal's form on a terminal, else the plain form. */
export async function present(ctx: Context, value: unknown, forms: Forms): Promise<void> {
  if (wantsJson(ctx)) return printValue(ctx, value);
  if (!ctx.io.stdout.isTerminal) {
    await ctx.io.out(ended(await forms.plain()));
    return;
  }
  const text = ended(await (forms.terminal?.() ?? Promise.resolve(forms.plain()).then(visible)));
  if (forms.paged !== true) {
    await ctx.io.out(text);
    return;
  }
  const { page } = await import('../terminal/pager.ts');
  await page(ctx, text, ctx.settings.get('pager'));
}

/** A column of a list, and its cell of an item. */
export interface ListColumn<T> extends Column {
  readonly cell: (item: T) => Cell;
  /** The cell for programs if it is another one; null leaves the column to people. */
  readonly plain?: ((item: T) => Cell) | null;
}

/** How a list is shown to people and to programs. */
export interface ListForm<T> {
  readonly columns: readonly ListColumn<T>[];
  /** Of an item, for programs; the columns' own by default. */
  readonly cells?: (item: T) => readonly Cell[];
  /** What a terminal shows if there are no items; the header alone by default. */
  readonly nothing?: string;
}

/** Shows a list: JSON, a table on a terminal, else a line an item. @param value what JSON shows in place of the items */
export function presentList<T>(
  ctx: Context,
  items: readonly T[],
  { columns, cells = plainCells(columns), nothing }: ListForm<T>,
  value: unknown = items,
): Promise<void> {
  const shown = (item: T): Cell[] => columns.map(({ cell }) => cell(item));
  return present(ctx, value, {
    terminal: () =>
      items.length === 0 && nothing !== undefined
        ? nothing
        : terminalTable(ctx.io, columns, items.map(shown)),
    plain: () => plainRows(items.map(cells)),
    paged: true,
  });
}

export function plainCells<T>(columns: readonly ListColumn<T>[]): (item: T) => Cell[] {
  return item => columns.flatMap(({ cell, plain = cell }) => (plain === null ? [] : [plain(item)]));
}

/** Shows one thing: labelled lines for people, without those that have no text, its fields for programs. */
export function presentFacts(
  ctx: Context,
  facts: object,
  lines: readonly (readonly [label: string, text: string | undefined])[],
): Promise<void> {
  const shown = lines.filter(([, text]) => text !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length)) + 2;
  return present(ctx, facts, {
    terminal: () => shown.map(([label, text = '']) => `${label.padEnd(width)}${oneLine(text)}\n`).join(''),
    plain: () => plainRows(Object.entries(facts).map(([key, value]) => [key, fieldText(value)])),
  });
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Confirms that something was done: a note for people, the facts as JSON where that is asked for. */
export async function confirm(ctx: Context, facts: object, note: string): Promise<void> {
  if (wantsJson(ctx)) await printValue(ctx, facts);
  else ctx.io.note(note);
}
