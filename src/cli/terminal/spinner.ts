import type { Ora } from 'ora';
import { errStream } from './err-stream.ts';
import { wantsPlainLines } from './plain-lines.ts';
import { oneLine } from './sanitise.ts';
import type { TerminalContext } from './terminal-context.ts';

/** What is shown of a wait. */
export interface ProgressState {
  readonly status: string;
  /** Answers to polls so far. */
  readonly polls: number;
}

/** Tells on standard error that something is waited for. */
export interface Progress {
  update(state: ProgressState): void;
  /** Takes it away; nothing of it stays on the screen. */
  stop(): void;
}

/** Waits shorter than this show nothing, in milliseconds. */
const SHOWN_AFTER_MS = 150;

const SILENT: Progress = { update: () => {}, stop: () => {} };

/** A spinner on a terminal; lines on changes with `--no-spinner` or `ACCESSIBLE`; off a terminal nothing. */
export function startProgress(ctx: TerminalContext, first: ProgressState): Progress {
  if (!ctx.io.stderr.isTerminal || ctx.globals.quiet) return SILENT;
  if (!ctx.globals.spinner || wantsPlainLines(ctx.env)) return startLines(ctx, first);
  return startSpinner(ctx, first);
}

function startLines(ctx: TerminalContext, first: ProgressState): Progress {
  let told = '';
  const update = ({ status }: ProgressState): void => {
    if (status === told) return;
    told = status;
    ctx.io.note(oneLine(status));
  };
  update(first);
  return { update, stop: () => {} };
}

function startSpinner(ctx: TerminalContext, first: ProgressState): Progress {
  const startedAt = ctx.clock.now();
  const stopped = new AbortController();
  let state = first;
  let spinner: Ora | undefined;
  const text = (): string => spinnerText(state, ctx.clock.now() - startedAt);
  const show = async (): Promise<void> => {
    await ctx.clock.sleep(SHOWN_AFTER_MS, stopped.signal);
    const { default: ora } = await import('ora');
    if (stopped.signal.aborted) return;
    spinner = ora({
      text: text(),
      stream: errStream(ctx.io),
      discardStdin: false,
      isEnabled: true,
      color: color(ctx),
    });
    spinner.start();
  };
  show().catch(() => {}); // stopped before it was shown
  const ticking = setInterval(() => {
    if (spinner !== undefined) spinner.text = text();
  }, 200);
  const release = ctx.io.beforeWrite(() => spinner?.clear());
  return {
    update: next => {
      state = next;
    },
    stop: () => {
      stopped.abort();
      clearInterval(ticking);
      release();
      spinner?.stop();
    },
  };
}

function color(ctx: TerminalContext): 'cyan' | false {
  return ctx.io.paintErr.level > 0 ? 'cyan' : false;
}

function spinnerText({ status, polls }: ProgressState, elapsedMs: number): string {
  const asked = polls === 0 ? [] : [`asked ${polls === 1 ? 'once' : `${polls} times`}`];
  return [oneLine(status), elapsed(elapsedMs), ...asked].join(' · ');
}

function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
