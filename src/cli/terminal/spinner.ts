import type { Ora } from 'ora';
import { toOneLine } from './sanitise.ts';
import { type TerminalContext, wantsPlainLines } from './terminal-context.ts';

/** The displayed state of a wait. */
export interface ProgressState {
  readonly status: string;
  /** The number of answered polls so far. */
  readonly pollCount: number;
  /** The reason that the service does not answer; undefined while it does. */
  readonly silence?: SpinnerSilence | undefined;
}

/** The time in which a service has not answered. */
export interface SpinnerSilence {
  readonly reason: string;
  /** The start, in milliseconds since the Unix epoch. */
  readonly since: number;
}

/** The display of a wait on standard error. */
export interface Progress {
  update(state: ProgressState): void;
  /** Removes it from the screen. */
  stop(): void;
}

/** Delay before a wait for a run is shown, in milliseconds. */
const RUN_DISPLAY_DELAY_MS = 150;

/** Delay before a wait for a plain request is shown, in milliseconds. */
const REQUEST_DISPLAY_DELAY_MS = 1000;

/** Time between updates of a spinner's text, in milliseconds. */
const REDRAW_INTERVAL_MS = 200;

const SILENT_PROGRESS: Progress = { update: () => {}, stop: () => {} };

/**
 * Shows a spinner on a terminal, or a line per change with `--no-spinner` or `ACCESSIBLE`; off a
 * terminal nothing.
 */
export function startProgress(ctx: TerminalContext, firstState: ProgressState): Progress {
  if (!ctx.io.stderr.isTerminal || ctx.globals.quiet) return SILENT_PROGRESS;
  return canAnimate(ctx)
    ? startSpinnerProgress(ctx, firstState)
    : startLineProgress(ctx, firstState);
}

/**
 * Waits for an answer. On a terminal, shows a spinner with a status, which may change, if the answer
 * takes longer than a second.
 */
export async function withSpinner<T>(
  ctx: TerminalContext,
  status: string | (() => string),
  answer: Promise<T>,
): Promise<T> {
  if (!canAnimate(ctx)) return answer;

  const startedAt = ctx.clock.now();
  const statusText = typeof status === 'string' ? () => status : status;
  const formatCurrentState = (): string =>
    formatProgressState({ status: statusText(), pollCount: 0 }, startedAt, ctx.clock.now());

  const stop = startSpinner(ctx, formatCurrentState, REQUEST_DISPLAY_DELAY_MS);
  try {
    return await answer;
  } finally {
    stop();
  }
}

function startLineProgress(ctx: TerminalContext, firstState: ProgressState): Progress {
  let lastLine = '';
  const update = ({ status, silence }: ProgressState): void => {
    const line = silence ? `${status}, but the service does not answer: ${silence.reason}` : status;
    if (line === lastLine) return;
    lastLine = line;
    ctx.io.note(toOneLine(line));
  };

  update(firstState);
  return { update, stop: () => {} };
}

function startSpinnerProgress(ctx: TerminalContext, firstState: ProgressState): Progress {
  const startedAt = ctx.clock.now();
  let state = firstState;
  const stop = startSpinner(
    ctx,
    () => formatProgressState(state, startedAt, ctx.clock.now()),
    RUN_DISPLAY_DELAY_MS,
  );

  return {
    update: next => {
      state = next;
    },
    stop,
  };
}

/** Returns true if standard error may show animations. */
export function canAnimate({ io, globals, env }: TerminalContext): boolean {
  const { isTerminal, stream } = io.stderr;
  // Terminals without a size, such as those of some CI systems, report a width of 0, by which `ora`
  // clears lines forever.
  return (
    isTerminal && stream.columns !== 0 && !globals.quiet && globals.spinner && !wantsPlainLines(env)
  );
}

/** Shows a spinner with a changing text after a delay; returns a function that removes it. */
export function startSpinner(
  ctx: TerminalContext,
  formatText: () => string,
  delayMs: number,
): () => void {
  const spinnerStopped = new AbortController();
  let spinner: Ora | undefined;
  const show = async (): Promise<void> => {
    await ctx.clock.sleep(delayMs, spinnerStopped.signal);
    const { default: ora } = await import('ora');
    if (spinnerStopped.signal.aborted) return;

    const color = ctx.io.paintErr.level > 0 ? 'cyan' : false;
    const { stream } = ctx.io.stderr;
    const text = formatText();
    spinner = ora({ text, stream, discardStdin: false, isEnabled: true, color }).start();
  };

  show().catch(() => {}); // stopped before it was shown
  const redrawTimer = setInterval(() => {
    if (spinner !== undefined) spinner.text = formatText();
  }, REDRAW_INTERVAL_MS);
  const stopClearing = ctx.io.beforeWrite(() => spinner?.clear());

  return () => {
    spinnerStopped.abort();
    clearInterval(redrawTimer);
    stopClearing();
    spinner?.stop();
  };
}

/** The first numbers of polls in words. */
const POLL_COUNTS = ['', 'once', 'twice'];

/** Formats a wait in one line, such as `running · 5 s · polled twice`. */
export function formatProgressState(state: ProgressState, startedAt: number, now: number): string {
  const { status, pollCount, silence } = state;
  const parts = [toOneLine(status), formatElapsed(now - startedAt)];
  if (pollCount > 0) parts.push(`polled ${POLL_COUNTS[pollCount] ?? `${pollCount} times`}`);

  if (silence) {
    const elapsed = formatElapsed(now - silence.since);
    parts.push(`no answer for ${elapsed}: ${toOneLine(silence.reason)}`);
  }

  return parts.join(' · ');
}

/** Formats a duration as `45 s`, `2 min 5 s` or `3 h 10 min`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
