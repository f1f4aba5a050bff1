import type { Context } from '../context.ts';
import { page } from '../terminal/pager.ts';
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

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Confirms that something was done: a note for people, the facts as JSON where that is asked for. */
export async function confirm(ctx: Context, facts: object, note: string): Promise<void> {
  if (wantsJson(ctx)) await printValue(ctx, facts);
  else ctx.io.note(note);
}
