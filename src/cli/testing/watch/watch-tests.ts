import type { Context } from '../../context.ts';
import { InterruptedError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { Budget } from '../../creation/spending/budget.ts';
import { checkOutputs } from '../reporters/report-tests.ts';
import type { TestOptions } from '../test-options.ts';
import { type NextRound, WatchEvents } from './watch-events.ts';
import { WatchedTests } from './watched-tests.ts';

/**
 * Runs all tests, then after each change the cases that it concerns, until the user quits. A change
 * that concerns any case ends a round that costs nothing; the cases of that round then run in the
 * next.
 *
 * @returns the code of the last round; `EXIT.capReached` if it reached a cap
 * @throws {CliError} INTERRUPTED during a round, or by a signal
 */
export async function watchTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  checkOutputs(ctx, options.outputs);
  const events = new WatchEvents(ctx);

  // All rounds share a budget, so that caps apply to the session and each round reports its costs.
  const budget = new Budget(ctx, options.caps);
  try {
    const tests = new WatchedTests(ctx, options, { budget, watch: files => events.watch(files) });
    await tests.readInitialState();
    return await runRounds(ctx, tests, events);
  } finally {
    events.close();
  }
}

/** Runs rounds until the user quits or a cap is reached. */
async function runRounds(
  ctx: Context,
  tests: WatchedTests,
  events: WatchEvents,
): Promise<ExitCode> {
  let round: NextRound = 'all';
  for (;;) {
    const { exitCode, changedFiles } = await runUntilChange(ctx, tests, events, round);
    if (exitCode === EXIT.capReached) return exitCode;

    if (exitCode === undefined) {
      // Names of files can't say "the failed cases too", so a round of those becomes one of all.
      round = typeof round === 'string' ? 'all' : new Set([...round, ...(changedFiles ?? [])]);
      continue;
    }

    const next = changedFiles ?? (await events.waitForNextRound(() => tests.readChanges()));
    if (next === 'quit') return exitCode;
    round = next;
  }
}

interface RoundEnd {
  /** undefined if a change ended the round. */
  readonly exitCode: ExitCode | undefined;
  /**
   * The files that changed during the round; undefined if it was not watched, or none has changed.
   */
  readonly changedFiles: ReadonlySet<string> | undefined;
}

/** Runs a round, which a change ends if it costs nothing. */
async function runUntilChange(
  ctx: Context,
  tests: WatchedTests,
  events: WatchEvents,
  round: NextRound,
): Promise<RoundEnd> {
  const interrupter = new RoundInterrupter(waitSignal =>
    events.waitForChange(() => tests.readChanges(), waitSignal),
  );
  const signal = AbortSignal.any([ctx.signal, interrupter.signal]);
  let exitCode: ExitCode | undefined;
  events.isRoundRunning = true;

  try {
    exitCode = await tests.run(round, { signal, onFreeRound: () => interrupter.start() });
  } catch (error) {
    if (!interrupter.signal.aborted || ctx.signal.aborted) throw error;
  } finally {
    events.isRoundRunning = false;
    await interrupter.stop();
  }

  return { exitCode, changedFiles: interrupter.changedFiles };
}

/** Waits for a change during a round, and ends the round when it comes. */
class RoundInterrupter {
  readonly #waitForChange: (waitSignal: AbortSignal) => Promise<ReadonlySet<string>>;
  readonly #roundController = new AbortController();
  readonly #waitController = new AbortController();
  #pendingEnd: Promise<void> | undefined;
  /** The changed files; undefined before a change. */
  changedFiles: ReadonlySet<string> | undefined;

  constructor(waitForChange: (waitSignal: AbortSignal) => Promise<ReadonlySet<string>>) {
    this.#waitForChange = waitForChange;
  }

  /** Aborted at a change. */
  get signal(): AbortSignal {
    return this.#roundController.signal;
  }

  /** Starts to wait. */
  start(): void {
    // `stop` ends the wait with an error; another fault shows once the round has ended.
    this.#pendingEnd = this.#endRound().catch(() => {});
  }

  /** Stops waiting, once a change that has been seen is read. */
  async stop(): Promise<void> {
    this.#waitController.abort();
    await this.#pendingEnd;
  }

  async #endRound(): Promise<void> {
    this.changedFiles = await this.#waitForChange(this.#waitController.signal);
    this.#roundController.abort(new InterruptedError('SIGINT', [], { stopCause: 'a change' }));
  }
}
