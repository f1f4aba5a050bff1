import type { Clock } from '../core/clock.ts';
import { InterruptedError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';

/** A signal that ends the process; a closed terminal and Ctrl-\\ count as SIGTERM. */
export type EndingSignal = 'SIGINT' | 'SIGTERM';
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
export type ReceivedSignal = (typeof ENDING_SIGNALS)[number];

/** The parts of the process that listening for signals needs. */
export interface SignalSource {
  readonly pid: number;
  on(signal: ReceivedSignal, listener: (signal: ReceivedSignal) => void): unknown;
  off(signal: ReceivedSignal, listener: (signal: ReceivedSignal) => void): unknown;
  kill(pid: number, signal: ReceivedSignal): unknown;
  readonly platform: NodeJS.Platform;
  exit(code: number): unknown;
}

export interface Interrupts {
  /** Aborted by the first signal without a handler, with an `InterruptedError` as reason. */
  readonly signal: AbortSignal;
  /**
   * Passes every signal to `handler` instead; the latest handler wins. Returns a function that
   * undoes this.
   */
  readonly onInterrupt: (handler: (signal: EndingSignal) => void) => () => void;
  /** Restores the system's handling of signals. */
  readonly uninstall: () => void;
}

/**
 * Time within which a repeated signal is an echo, in milliseconds: a parent (npx, timeout) forwards
 * a signal that the terminal has sent to both.
 */
const MAX_ECHO_MS = 100;

/** Time that a command has to end after a signal or the end of `--timeout`, in milliseconds. */
const SIGNAL_GRACE_PERIOD_MS = 1900;

/** Calls `end` if the process is still running when its command should have ended. */
export function endAfterGracePeriod(end: () => void): void {
  setTimeout(end, SIGNAL_GRACE_PERIOD_MS).unref();
}

/**
 * Listens for Ctrl-C and SIGTERM. A second signal while the command is stopping ends the process at
 * once.
 */
export function listenForInterrupts(source: SignalSource, { now }: Pick<Clock, 'now'>): Interrupts {
  const interruption = new AbortController();
  const handlers: ((signal: EndingSignal) => void)[] = [];

  const receivedAt = new Map<ReceivedSignal, number>();

  const uninstall = (): void => {
    for (const signal of ENDING_SIGNALS) source.off(signal, onSignal);
  };

  const endAtOnce = (signal: ReceivedSignal): void => {
    uninstall();
    // On Windows, a process that sends itself a signal exits with 1; to the first process of a
    // container, it does nothing.
    const endsBySignal = source.platform !== 'win32' && source.pid !== 1;
    if (endsBySignal) {
      source.kill(source.pid, signal);
    } else {
      source.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
    }
  };

  const onSignal = (signalName: ReceivedSignal): void => {
    const sinceLastMs = now() - (receivedAt.get(signalName) ?? Number.NEGATIVE_INFINITY);
    receivedAt.set(signalName, now());
    if (sinceLastMs < MAX_ECHO_MS) return;

    const signal = signalName === 'SIGINT' ? signalName : 'SIGTERM';
    const handler = handlers.at(-1);
    if (handler !== undefined) {
      handler(signal);
    } else if (interruption.signal.aborted) {
      endAtOnce(signal);
    } else {
      endAfterGracePeriod(() => endAtOnce(signal));
      const options = signalName === 'SIGINT' ? {} : { stopCause: signalName };
      interruption.abort(new InterruptedError(signal, [], options));
    }
  };

  for (const signal of ENDING_SIGNALS) source.on(signal, onSignal);
  return {
    signal: interruption.signal,
    uninstall,
    onInterrupt: handler => {
      handlers.push(handler);
      return () => {
        const index = handlers.lastIndexOf(handler);
        if (index >= 0) handlers.splice(index, 1);
      };
    },
  };
}
