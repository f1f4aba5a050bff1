import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Snapshot } from './snapshot.ts';

/** The interval between scans for files in folders without a watcher, in milliseconds. */
const SCAN_INTERVAL_MS = 1000;

/** The cases of a round: all, those that failed, or those that these files concern. */
export type NextRound = 'all' | 'failed' | ReadonlySet<string>;

/** The commands of the keys that a user may press. */
const COMMAND_BY_KEY = { a: 'all', f: 'failed', q: 'quit' } as const;

type KeyCommand = (typeof COMMAND_BY_KEY)[keyof typeof COMMAND_BY_KEY];

/**
 * Returns the files that have changed since the last call, once the changes have settled; undefined
 * if they concern no case.
 */
type ReadChanges = () => Promise<ReadonlySet<string> | undefined>;

/** Keys pressed on a terminal, and changed files. */
export class WatchEvents {
  readonly #ctx: Context;
  readonly #watchers = new Map<string, FSWatcher>();
  /** The commands of the keys that were pressed and not handled yet. */
  readonly #pendingCommands: KeyCommand[] = [];
  #wake: () => void = () => {};
  /** True during a round, which the end of the command then interrupts. */
  isRoundRunning = false;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    const { stdin } = ctx.io;
    if (!stdin.isTerminal) return;
    stdin.stream.setRawMode(true);
    stdin.stream.on('data', this.#onData).resume();
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    const { stdin } = this.#ctx.io;
    if (!stdin.isTerminal) return;
    stdin.stream.off('data', this.#onData).pause();
    stdin.stream.setRawMode(false);
  }

  /** Watches the folders of these files, to react to changes at once. */
  watch(files: Snapshot['fingerprints']): void {
    for (const folder of new Set([...files.keys()].map(file => path.dirname(file)))) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, () => this.#wake());
        // If a folder disappears and comes back, the scans find its files.
        watcher.on('error', () => watcher.close());
        this.#watchers.set(folder, watcher);
      } catch {
        // The scans still see its files.
      }
    }
  }

  /** Waits for a command of the user, or the next change. @throws the signal's reason */
  async waitForNextRound(readChanges: ReadChanges): Promise<NextRound | 'quit'> {
    const { io, signal } = this.#ctx;
    const keyHelp = io.stdin.isTerminal
      ? '; press a to run all, f to run the failed ones, q to quit'
      : '';
    signal.throwIfAborted();
    let next = this.#pendingCommands.shift() ?? (await readChanges());
    if (next === undefined) io.note(`waiting for changes${keyHelp}`);

    while (next === undefined) {
      // A key may have been pressed while changes were read.
      if (this.#pendingCommands.length === 0) await this.#waitForEvent(signal);
      signal.throwIfAborted();
      next = this.#pendingCommands.shift() ?? (await readChanges());
    }
    return next;
  }

  /** Waits for the next change. @throws the signal's reason */
  async waitForChange(readChanges: ReadChanges, signal: AbortSignal): Promise<ReadonlySet<string>> {
    let changedFiles: ReadonlySet<string> | undefined;
    while (changedFiles === undefined) {
      await this.#waitForEvent(signal);
      signal.throwIfAborted();
      changedFiles = await readChanges();
    }
    return changedFiles;
  }

  async #waitForEvent(signal: AbortSignal): Promise<void> {
    await new Promise<void>(resolve => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };

      const timer = setTimeout(wake, SCAN_INTERVAL_MS);
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  readonly #onData = (data: Buffer | string): void => {
    // In raw mode, Ctrl-C arrives as a character.
    for (const key of String(data).replaceAll('\u0003', 'q')) {
      if (key === 'q' && this.isRoundRunning) process.emit('SIGINT', 'SIGINT');
      else if (isCommandKey(key)) this.#pendingCommands.push(COMMAND_BY_KEY[key]);
    }
    this.#wake();
  };
}

function isCommandKey(key: string): key is keyof typeof COMMAND_BY_KEY {
  return Object.hasOwn(COMMAND_BY_KEY, key);
}
