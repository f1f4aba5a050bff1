import type { Context } from '../context.ts';
import { page } from '../terminal/pager.ts';
import { type Cell, type Column, plainRows, terminalTable } from '../terminal/table.ts';
import { printValue, wantsJson } from './json.ts';

/** The forms of one result; each is made only when it is the one asked for. */
export interface Forms {
  /** For people: tables, words. Must be sanitised. */
  readonly terminal: () => string | Promise<string>;
  /** For programs: tab-separated lines without a header. */
  readonly plain: () => string | Promise<string>;
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
  const text = ended(await forms.terminal());
  if (forms.paged === true) await page(ctx, text, ctx.settings.get('pager'));
  else await ctx.io.out(text);
}

/** How a list is shown to people and to programs. */
export interface ListForm<T> {
  readonly columns: readonly Column[];
  /** Of an item, for programs: tab-separated, without a header. */
  readonly cells: (item: T) => readonly Cell[];
  /** The same for people; the cells for programs by default. */
  readonly shown?: (item: T) => readonly Cell[];
  /** What a terminal shows if there are no items; the header alone by default. */
  readonly nothing?: string;
}

/** Shows a list: JSON if asked for, a table on a terminal, else a line for each item. */
export function presentList<T>(
  ctx: Context,
  items: readonly T[],
  { columns, cells, shown = cells, nothing }: ListForm<T>,
): Promise<void> {
  return present(ctx, items, {
    terminal: () =>
      items.length === 0 && nothing !== undefined
        ? nothing
        : terminalTable(ctx.io, columns, items.map(shown)),
    plain: () => plainRows(items.map(cells)),
    paged: true,
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
