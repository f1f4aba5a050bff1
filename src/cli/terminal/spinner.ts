import type { Ora } from 'ora';
import { oneLine } from './sanitise.ts';
import { type TerminalContext, wantsPlainLines } from './terminal-context.ts';

/** What is shown of a wait. */
export interface ProgressState {
  readonly status: string;
  /** Answers to polls so far. */
  readonly polls: number;
  /** Why the service does not answer; undefined while it does. */
  readonly silence?: Silence | undefined;
}

export interface Silence {
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}

/** Shows on standard error that something is waited for. */
export interface Progress {
  update(state: ProgressState): void;
  /** Takes it away; nothing of it stays on the screen. */
  stop(): void;
}

/** Waits shorter than this show nothing, in milliseconds. */
const SHOWN_AFTER_MS = 150;
/** The same for commands that only ask the service something. */
const QUESTION_SHOWN_AFTER_MS = 1000;

const REDRAW_EVERY_MS = 200;

const SILENT: Progress = { update: () => {}, stop: () => {} };

/** A spinner on a terminal; lines on changes with `--no-spinner` or `ACCESSIBLE`; off a terminal nothing. */
export function startProgress(ctx: TerminalContext, first: ProgressState): Progress {
  if (!ctx.io.stderr.isTerminal || ctx.globals.quiet) return SILENT;
  return mayMove(ctx) ? startSpinner(ctx, first, SHOWN_AFTER_MS) : startLines(ctx, first);
}

/** What the service is polled for; a spinner on a terminal once that takes longer than a second. */
export async function withSpinner<T>(ctx: TerminalContext, status: string, answer: Promise<T>): Promise<T> {
  if (!mayMove(ctx)) return answer;
  const progress = startSpinner(ctx, { status, polls: 0 }, QUESTION_SHOWN_AFTER_MS);
  try {
    return await answer;
  } finally {
    progress.stop();
  }
}

function startLines(ctx: TerminalContext, first: ProgressState): Progress {
  let shown = '';
  const update = ({ status, silence }: ProgressState): void => {
    const line = silence ? `${status}, but the service does not answer: ${silence.reason}` : status;
    if (line === shown) return;
    shown = line;
    ctx.io.note(oneLine(line));
  };
  update(first);
  return { update, stop: () => {} };
}

function startSpinner(ctx: TerminalContext, first: ProgressState, afterMs: number): Progress {
  const startedAt = ctx.clock.now();
  let state = first;
  const stop = spin(ctx, () => spinnerText(state, startedAt, ctx.clock.now()), afterMs);
  return {
    update: next => {
      state = next;
    },
    stop,
  };
}

/** Whether something may move on standard error. */
export function mayMove({ io, globals, env }: TerminalContext): boolean {
  return io.stderr.isTerminal && !globals.quiet && globals.spinner && !wantsPlainLines(env);
}

/** Shows a spinner with a text that changes, after so many milliseconds; returns how to take it away. */
export function spin(ctx: TerminalContext, text: () => string, afterMs: number): () => void {
  const stopped = new AbortController();
  let spinner: Ora | undefined;
  const show = async (): Promise<void> => {
    await ctx.clock.sleep(afterMs, stopped.signal);
    const { default: ora } = await import('ora');
    if (stopped.signal.aborted) return;
    const color = ctx.io.paintErr.level > 0 ? 'cyan' : false;
    const { stream } = ctx.io.stderr;
    spinner = ora({ text: text(), stream, discardStdin: false, isEnabled: true, color }).start();
  };
  show().catch(() => {}); // stopped before it was shown
  const ticking = setInterval(() => {
    if (spinner !== undefined) spinner.text = text();
  }, REDRAW_EVERY_MS);
  const release = ctx.io.beforeWrite(() => spinner?.clear());
  return () => {
    stopped.abort();
    clearInterval(ticking);
    release();
    spinner?.stop();
  };
}

const TIMES = ['', 'once', 'twice'];

export function spinnerText(state: ProgressState, startedAt: number, now: number): string {
  const { status, polls, silence } = state;
  const polled = polls === 0 ? [] : [`polled ${TIMES[polls] ?? `${polls} times`}`];
  const silent = silence ? [`no answer for ${elapsed(now - silence.since)}: ${oneLine(silence.reason)}`] : [];
  return [oneLine(status), elapsed(now - startedAt), ...polled, ...silent].join(' · ');
}

/** A length of time as `45 s`, `2 min 5 s` or `3 h 10 min`. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
