import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Snapshot } from './snapshot.ts';

/** Files in places that nothing watches yet are looked for this often, in milliseconds. */
const LOOK_MS = 1000;

/** What is run next: all, what failed, or what these files concern; `q` is nothing more. */
export type Wanted = 'a' | 'f' | 'q' | ReadonlySet<string>;

/** Gives what changed since it was last called, once that is all. */
export type Changes = () => Promise<ReadonlySet<string> | undefined>;

/** Keys on a terminal, and changes of files. */
export class Events {
  readonly #ctx: Context;
  readonly #watchers = new Map<string, FSWatcher>();
  /** Those that mean something and were not taken yet. */
  readonly #keys: ('a' | 'f' | 'q')[] = [];
  #wake: () => void = () => {};
  /** Whether a round is under way: what ends the command then interrupts it. */
  isRunning = false;

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

  /** Reacts at once to what happens in the folders of these files. */
  watch(files: Snapshot['files']): void {
    for (const folder of new Set([...files.keys()].map(file => path.dirname(file)))) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, () => this.#wake());
        // A folder that goes is looked for by its files.
        watcher.on('error', () => watcher.close());
        this.#watchers.set(folder, watcher);
      } catch {
        // It is looked at now and then all the same.
      }
    }
  }

  /** The next key that means something, or what changed. @throws the signal's reason */
  async next(changes: Changes): Promise<Wanted> {
    const { io, signal } = this.#ctx;
    const keys = io.stdin.isTerminal ? '; a runs all, f what failed, q ends' : '';
    for (let isFirst = true; ; isFirst = false) {
      signal.throwIfAborted();
      const next = this.#keys.shift() ?? (await changes());
      if (next !== undefined) return next;
      if (isFirst) io.note(`waiting for changes${keys}`);
      if (this.#keys.length === 0) await this.#somethingHappens(signal);
    }
  }

  /** The next change. @throws the signal's reason */
  async change(changes: Changes, signal: AbortSignal): Promise<ReadonlySet<string>> {
    for (;;) {
      await this.#somethingHappens(signal);
      signal.throwIfAborted();
      const changed = await changes();
      if (changed !== undefined) return changed;
    }
  }

  async #somethingHappens(signal: AbortSignal): Promise<void> {
    await new Promise<void>(resolve => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, LOOK_MS);
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  readonly #onData = (data: Buffer | string): void => {
    for (const key of String(data).replaceAll('\u0003', 'q')) {
      if (key === 'q' && this.isRunning) process.emit('SIGINT', 'SIGINT');
      else if (key === 'a' || key === 'f' || key === 'q') this.#keys.push(key);
    }
    this.#wake();
  };
}
