import type { Context } from '../../context.ts';
import { ERASE_BELOW, parked } from '../../terminal/err-stream.ts';
import { wantsPlainLines } from '../../terminal/terminal-context.ts';
import { progressText } from './progress-text.ts';
import type { Tally } from './tally.ts';

const LINE_EVERY_MS = 10_000;
const REDRAW_EVERY_MS = 200;

/** Shows how far a batch is. */
export interface Progress {
  /** Resolves once nothing more is shown. */
  stop(): Promise<void>;
}

/** A bar on a terminal; off one, and where no movement is wanted, a line every 10 s. Nothing with `--quiet`. */
export async function startProgress(ctx: Context, tally: Tally): Promise<Progress> {
  if (ctx.globals.quiet) {
    return { stop: async () => {} };
  }
  return movesFreely(ctx) ? startBar(ctx, tally) : startLines(ctx, tally);
}

function movesFreely(ctx: Context): boolean {
  return ctx.io.stderr.isTerminal && ctx.globals.spinner && !wantsPlainLines(ctx.env);
}

function startLines(ctx: Context, tally: Tally): Progress {
  const startedAt = ctx.clock.now();
  return every(ctx, LINE_EVERY_MS, () => ctx.io.note(progressText(tally, ctx.clock.now() - startedAt)));
}

/** Drawn again at each tick, since every line that is written in between takes its place. */
async function startBar(ctx: Context, tally: Tally): Promise<Progress> {
  const { barText } = await import('./progress-text.ts');
  const startedAt = ctx.clock.now();
  const wipe = (): void => ctx.io.err(`\r${ERASE_BELOW}`);
  const release = ctx.io.beforeWrite(wipe);
  const drawing = every(ctx, REDRAW_EVERY_MS, () => {
    const { columns } = ctx.io.stderr;
    const bar = barText(tally, ctx.clock.now() - startedAt, columns);
    ctx.io.err(`\r${parked(bar + ERASE_BELOW, columns)}`);
  });
  return {
    async stop() {
      await drawing.stop();
      release();
      wipe();
    },
  };
}

function every(ctx: Context, ms: number, show: () => void): Progress {
  const stopped = new AbortController();
  const ticking = (async () => {
    while (!stopped.signal.aborted) {
      await ctx.clock.sleep(ms, stopped.signal);
      show();
    }
  })().catch(() => {});
  return {
    async stop() {
      stopped.abort();
      await ticking;
    },
  };
}
