import type { Context } from '../context.ts';
import { visible } from '../terminal/sanitise.ts';
import { applyQuery } from './query.ts';

// Legal in JSON, but not harmless on a terminal: DEL, C1 and the characters that reorder text.
const HOSTILE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Whether results are wanted as JSON: `--json`, or `--query`, which implies it. */
export function wantsJson(ctx: Pick<Context, 'globals'>): boolean {
  return ctx.globals.json || ctx.globals.query !== undefined;
}

/** Prints a value as JSON, or what `--query` selects of it; a selected string is printed bare. */
export async function printValue(ctx: Pick<Context, 'globals' | 'io'>, value: unknown): Promise<void> {
  await ctx.io.out(await shownJson(ctx, value, 2));
}

/** One of many rows, as `printValue` on a line of its own. False once the reader has gone. */
export async function printRow(ctx: Pick<Context, 'globals' | 'io'>, row: unknown): Promise<boolean> {
  return ctx.io.out(await jsonLine(ctx, row));
}

/** The line that `printRow` prints. */
export function jsonLine(ctx: Pick<Context, 'globals' | 'io'>, row: unknown): Promise<string> {
  return shownJson(ctx, row, 0);
}

async function shownJson(
  { globals: { query }, io }: Pick<Context, 'globals' | 'io'>,
  value: unknown,
  indent: number,
): Promise<string> {
  const { isTerminal } = io.stdout;
  const selected = query === undefined ? value : await applyQuery(query, value);
  const isBare = query !== undefined && typeof selected === 'string';
  if (isBare) return `${isTerminal ? visible(selected) : selected}\n`;
  return `${toJson(selected, isTerminal, indent)}\n`;
}

/** Indented JSON; on a terminal with everything escaped that could drive it, equal in value all the same. */
export function toJson(value: unknown, terminal: boolean, indent = 2): string {
  const text = JSON.stringify(value ?? null, undefined, indent);
  return terminal ? escapeJson(text) : text;
}

/** JSON, equal in value, without characters that could drive a terminal. */
export function escapeJson(text: string): string {
  return text.replace(
    HOSTILE_IN_JSON,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
