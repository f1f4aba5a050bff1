import type { ChalkInstance, ColorSupportLevel } from 'chalk';
import type { Env } from '../../utils/env.ts';
import type { Sink } from './io.ts';

/** Matches values of TERM such as `xterm-256color` and `xterm-kitty`. */
const TERM_WITH_256_COLOURS = /256|kitty|ghostty|wezterm|alacritty|direct/i;

/** Returns the colour support of a stream: 0 none, 1 basic, 2 256 colours, 3 millions. */
export function detectColourLevel(
  stream: Sink,
  env: Env,
  { isAllowed }: { readonly isAllowed: boolean },
): ColorSupportLevel {
  if (!isAllowed) return 0;
  const forcedLevel = parseForcedLevel(env['FORCE_COLOR']);
  if (forcedLevel !== undefined) return forcedLevel;
  if (stream.isTTY !== true || env['NO_COLOR'] || env['TERM'] === 'dumb') return 0;
  return detectTerminalLevel(env);
}

/** Returns chalk for a level of colour support; loads it only if there is any. */
export async function createPaint(level: ColorSupportLevel): Promise<ChalkInstance> {
  if (level === 0) return createPlainPaint();
  const { Chalk } = await import('chalk');
  return new Chalk({ level });
}

function parseForcedLevel(value: string | undefined): ColorSupportLevel | undefined {
  if (value === undefined) return undefined;
  if (value === '0' || value === 'false') return 0;
  if (value === '2') return 2;
  return value === '3' ? 3 : 1;
}

function detectTerminalLevel(env: Env): ColorSupportLevel {
  if (env['COLORTERM'] === 'truecolor' || env['COLORTERM'] === '24bit') return 3;
  return TERM_WITH_256_COLOURS.test(env['TERM'] ?? '') ? 2 : 1;
}

const COLOUR_FUNCTIONS = new Set(['rgb', 'hex', 'ansi256', 'bgRgb', 'bgHex', 'bgAnsi256']);

/** Returns a stand-in for chalk without colours: every style returns the text unchanged. */
function createPlainPaint(): ChalkInstance {
  const plainStyle: unknown = new Proxy((...texts: unknown[]) => texts.join(' '), {
    get: (_, style) => {
      if (style === 'level') return 0;
      // An object with a `then` would be awaited.
      if (typeof style !== 'string' || style === 'then') return undefined;
      return COLOUR_FUNCTIONS.has(style) ? () => plainStyle : plainStyle;
    },
  });
  return plainStyle as ChalkInstance;
}
