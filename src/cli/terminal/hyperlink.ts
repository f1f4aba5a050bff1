import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Env } from '../core/types.ts';
import { oneLine, visible } from './sanitise.ts';
import type { TerminalContext } from './terminal-context.ts';

/**
 * A URL that a service gave, on a terminal that has hyperlinks as a link to it if it leads to the web. Harmless
 * there either way.
 *
 * @param ownFiles whether its `file:` URLs are of files that this process wrote
 */
export function linkedUrl(ctx: TerminalContext, url: string, ownFiles: boolean): string {
  const target = ownFiles ? /^(?:https?|file):\/\//iu : /^https?:\/\//iu;
  const shown = oneLine(url);
  return target.test(url) && URL.canParse(url) ? linked(ctx, shown, new URL(url).href) : linked(ctx, shown);
}

/** The path of a file that the command wrote, likewise. */
export function linkedFile(ctx: TerminalContext, file: string): string {
  return linked(ctx, file, pathToFileURL(path.resolve(ctx.cwd, file)).href);
}

/** @param href without anything that could end the sequence it stands in */
function linked(ctx: TerminalContext, text: string, href?: string): string {
  if (!ctx.io.stdout.isTerminal) return text;
  const shown = visible(text);
  return href === undefined || !hasHyperlinks(ctx.env)
    ? shown
    : `\u001B]8;;${href}\u0007${shown}\u001B]8;;\u0007`;
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
