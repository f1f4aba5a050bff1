import type { TerminalContext } from '../terminal-context.ts';
import { halfBlocks } from './half-blocks.ts';
import type { Miniature } from './miniature.ts';
import { sixel } from './sixel.ts';

/** Turns a picture into what a terminal draws it from. */
export type Graphics = (picture: Miniature) => string;

/** kitty takes a picture in pieces of at most this many characters. */
const KITTY_PIECE = 4096;

/** How pictures are shown on standard output; undefined where the terminal is not known to show any. */
export async function graphicsOf(ctx: TerminalContext): Promise<Graphics | undefined> {
  const { env, io } = ctx;
  if (!io.stdout.isTerminal || env.ACCESSIBLE || env.TERM === 'dumb') return undefined;
  return (await protocolOf(env)) ?? (io.paint.level === 3 ? halfBlocks : undefined);
}

async function protocolOf(env: TerminalContext['env']): Promise<Graphics | undefined> {
  // A multiplexer would swallow the sequences, or draw them in the wrong place.
  if (env.TMUX || env.STY || /^(?:screen|tmux)/u.test(env.TERM ?? '')) return undefined;
  const { createSupportsTerminalGraphics } = await import('supports-terminal-graphics');
  const supported = createSupportsTerminalGraphics({ isTTY: true });
  if (supported.kitty) return kitty;
  if (supported.iterm2) return iterm2;
  return supported.sixel ? sixel : undefined;
}

/** In pieces, since kitty takes no long ones. */
export function kitty({ png }: Miniature): string {
  const base64 = png.toString('base64');
  const pieces = base64.match(new RegExp(`.{1,${KITTY_PIECE}}`, 'gu')) ?? [];
  return pieces
    .map((piece, at) => {
      // f=100: PNG; a=T: show it at once; q=2: say nothing in return; m: more pieces follow.
      const first = at === 0 ? 'f=100,a=T,q=2,' : '';
      return `\u001B_G${first}m=${at < pieces.length - 1 ? 1 : 0};${piece}\u001B\\`;
    })
    .join('');
}

export function iterm2({ png, width, height }: Miniature): string {
  const facts = `inline=1;size=${png.length};width=${width}px;height=${height}px;preserveAspectRatio=1`;
  return `\u001B]1337;File=${facts}:${png.toString('base64')}\u0007`;
}
