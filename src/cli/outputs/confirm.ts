import type { Context } from '../context.ts';
import { printValue, wantsJson } from './json.ts';

/** Tells that something was done: a note for people, the facts as JSON where that is asked for. */
export async function confirm(ctx: Context, facts: object, note: string): Promise<void> {
  if (wantsJson(ctx)) await printValue(ctx, facts);
  else ctx.io.note(note);
}
