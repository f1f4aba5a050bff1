import type { Context } from '../context.ts';
import { escapeControls, withoutHiddenControls } from '../terminal/sanitise.ts';

/** The part of the context that printing JSON needs. */
type PrintContext = Pick<Context, 'checks' | 'globals' | 'io'>;

/** Prints a value as JSON, or what `--query` selects from it; a selected string is printed bare. */
export async function printValue(ctx: PrintContext, value: unknown): Promise<void> {
  await ctx.io.out(await formatJson(ctx, value, 2));
}

/**
 * Returns a row as one line of JSON, or what `--query` selects from it; a selected string is
 * returned bare.
 */
export function formatJsonLine(ctx: PrintContext, row: unknown): Promise<string> {
  return formatJson(ctx, row, 0);
}

async function formatJson(ctx: PrintContext, value: unknown, indent: number): Promise<string> {
  const { query } = ctx.globals;
  const { isTerminal } = ctx.io.stdout;
  if (query === undefined) return `${await toJson(value, { isTerminal, indent })}\n`;
  const { applyQuery } = await import('./json-query.ts');
  const { text, json } = await applyQuery(ctx, query, value, indent);
  if (text !== undefined) return `${isTerminal ? escapeControls(text) : text}\n`;
  return `${isTerminal ? withoutHiddenControls(json) : json}\n`;
}

/**
 * Returns JSON, on one line if `indent` is 0, with each number as the service wrote it; for a terminal with control
 * characters escaped, which doesn't change the value.
 */
export async function toJson(
  value: unknown,
  { isTerminal = false, indent = 2 } = {},
): Promise<string> {
  let isExact = true;

  // Only `parseKeepingNumbers` adds symbols. They keep the source text of numbers that JavaScript
  // can't hold.
  function detectInexactNumbers(this: object, _: string, value: unknown): unknown {
    if (typeof value === 'number' && Object.getOwnPropertySymbols(this).length > 0) isExact = false;
    return value;
  }

  let text = JSON.stringify(value ?? null, detectInexactNumbers, indent);
  if (!isExact) {
    const { stringifyAsWritten } = await import('../../utils/written-numbers.ts');
    text = stringifyAsWritten(value, indent);
  }

  return isTerminal ? withoutHiddenControls(text) : text;
}
