import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Env } from '../core/types.ts';
import { visible } from './sanitise.ts';
import type { TerminalContext } from './terminal-context.ts';

/** The text, on a terminal that has hyperlinks as a link to a web address or a file; harmless there either way. */
export function linked(ctx: TerminalContext, text: string, target: string): string {
  if (!ctx.io.stdout.isTerminal) return text;
  const url = linkTarget(ctx, target);
  const shown = visible(text);
  return url === undefined || !hasHyperlinks(ctx.env)
    ? shown
    : `\u001B]8;;${url}\u0007${shown}\u001B]8;;\u0007`;
}

/** A URL without anything that could end the sequence it stands in; undefined where it is neither web nor file. */
function linkTarget(ctx: TerminalContext, target: string): string | undefined {
  if (/^https?:\/\//iu.test(target)) return URL.canParse(target) ? new URL(target).href : undefined;
  return pathToFileURL(path.resolve(ctx.cwd, target)).href;
}

const TERMINALS = new Set([
  'iTerm.app',
  'WezTerm',
  'vscode',
  'ghostty',
  'Hyper',
  'rio',
  'WarpTerminal',
  'Tabby',
]);

/** Whether the terminal is known to have hyperlinks; `FORCE_HYPERLINK` decides where set. */
function hasHyperlinks(env: Env): boolean {
  if (env.FORCE_HYPERLINK !== undefined) return env.FORCE_HYPERLINK !== '0';
  if (env.CI !== undefined || env.TERM === 'dumb' || env.ACCESSIBLE !== undefined) return false;
  if (env.TERM_PROGRAM !== undefined && TERMINALS.has(env.TERM_PROGRAM)) return true;
  if (Number(env.VTE_VERSION ?? 0) >= 5000 || env.WT_SESSION !== undefined) return true;
  return env.KITTY_WINDOW_ID !== undefined || /kitty|alacritty|ghostty|foot|wezterm/u.test(env.TERM ?? '');
}
