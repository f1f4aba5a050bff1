import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Env } from '../../utils/env.ts';
import { escapeControls, toOneLine } from './sanitise.ts';
import type { TerminalContext } from './terminal-context.ts';

const WEB_URL = /^https?:\/\//iu;
const WEB_OR_FILE_URL = /^(?:https?|file):\/\//iu;

/**
 * Returns a URL from a service as sanitised text. It is a hyperlink if the terminal supports them
 * and the URL is on the web or names a file that this process wrote.
 */
export function linkUrl(
  ctx: TerminalContext,
  url: string,
  { allowsFileUrls }: { readonly allowsFileUrls: boolean },
): string {
  const linkableUrl = allowsFileUrls ? WEB_OR_FILE_URL : WEB_URL;
  const isLinked = linkableUrl.test(url) && URL.canParse(url);
  return formatHyperlink(ctx, toOneLine(url), isLinked ? new URL(url).href : undefined);
}

/**
 * Returns the path of a file that the command wrote, as a hyperlink if the terminal supports them.
 */
export function linkFile(ctx: TerminalContext, file: string): string {
  return formatHyperlink(ctx, file, pathToFileURL(path.resolve(ctx.cwd, file)).href);
}

/** @param href must not contain anything that could end the escape sequence */
function formatHyperlink(ctx: TerminalContext, text: string, href?: string): string {
  if (!ctx.io.stdout.isTerminal) return text;
  const shownText = escapeControls(text);
  return href === undefined || !supportsHyperlinks(ctx.env)
    ? shownText
    : `\u001B]8;;${href}\u0007${shownText}\u001B]8;;\u0007`;
}

/** The values of TERM_PROGRAM of terminals with hyperlinks. */
const PROGRAMS_WITH_HYPERLINKS = new Set([
  'iTerm.app',
  'WezTerm',
  'vscode',
  'ghostty',
  'Hyper',
  'rio',
  'WarpTerminal',
  'Tabby',
]);

/** Matches values of TERM such as `xterm-kitty`. */
const TERM_WITH_HYPERLINKS = /kitty|alacritty|ghostty|foot|wezterm/u;

/**
 * Returns true if the terminal is known to support hyperlinks; `FORCE_HYPERLINK`, if set, decides.
 */
function supportsHyperlinks(env: Env): boolean {
  if (env.FORCE_HYPERLINK !== undefined) return env.FORCE_HYPERLINK !== '0';
  if (env.CI !== undefined || env.TERM === 'dumb' || env.ACCESSIBLE !== undefined) return false;
  if (env.TERM_PROGRAM !== undefined && PROGRAMS_WITH_HYPERLINKS.has(env.TERM_PROGRAM)) return true;
  if (Number(env.VTE_VERSION ?? 0) >= 5000 || env.WT_SESSION !== undefined) return true;

  return env.KITTY_WINDOW_ID !== undefined || TERM_WITH_HYPERLINKS.test(env.TERM ?? '');
}
