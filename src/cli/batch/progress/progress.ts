import type { Context } from '../../context.ts';
import { mayMove, spin } from '../../terminal/spinner.ts';
import { barText, progressText } from './progress-text.ts';
import type { Tally } from './tally.ts';

const LINE_EVERY_MS = 10_000;

/** Shows how far a batch is. */
export interface Progress {
  /** Resolves once nothing more is shown. */
  stop(): Promise<void>;
}

/** A bar on a terminal; off one, and where no movement is wanted, a line every 10 s. Nothing with `--quiet`. */
export function startProgress(ctx: Context, tally: Tally): Progress {
  if (ctx.globals.quiet) return { stop: async () => {} };
  if (!mayMove(ctx)) return startLines(ctx, tally);
  const startedAt = ctx.clock.now();
  const stop = spin(ctx, () => barText(tally, ctx.clock.now() - startedAt, ctx.io.stderr.columns), 0);
  return { stop: async () => stop() };
}

function startLines(ctx: Context, tally: Tally): Progress {
  const startedAt = ctx.clock.now();
  const stopped = new AbortController();
  const ticking = (async () => {
    while (!stopped.signal.aborted) {
      await ctx.clock.sleep(LINE_EVERY_MS, stopped.signal);
      ctx.io.note(progressText(tally, ctx.clock.now() - startedAt));
    }
  })().catch(() => {});
  return {
    async stop() {
      stopped.abort();
      await ticking;
    },
  };
}
