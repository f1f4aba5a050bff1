import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

export interface TerminalOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** 80 by default. */
  readonly columns?: number;
  /** 24 by default. */
  readonly rows?: number;
}

/** Names of keys for `press`. */
const KEYS = {
  enter: '\r',
  tab: '\t',
  space: ' ',
  backspace: '\u007f',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  'ctrl+c': '\u0003',
  'ctrl+d': '\u0004',
  'ctrl+o': '\u000f',
  'ctrl+u': '\u0015',
} as const;
export type Key = keyof typeof KEYS;

/** The longest a test waits for the screen to show something, in milliseconds. */
const DEADLINE_MS = 60_000;
/** The last output may come after the news of the exit by some 50 ms. */
const QUIET_MS = 120;

/** A command on a real terminal, and what a person would see on its screen. */
export interface TestTerminal {
  type(text: string): void;
  /** Pastes a text, as a terminal does into a program that asked for bracketed paste. */
  paste(text: string): void;
  press(...keys: readonly Key[]): void;
  /** Resolves once the screen, or what scrolled off it, shows the text or matches. */
  waitFor(wanted: string | RegExp): Promise<void>;
  /** Resolves once the screen shows these lines and nothing else. */
  waitForScreen(...lines: readonly string[]): Promise<void>;
  /** Returns the visible lines without trailing blanks and empty lines. */
  screen(): string;
  /** Returns the scrollback and the screen, with lines as they were written before they were wrapped. */
  text(): string;
  /** Returns every byte that the command has written so far. */
  raw(): string;
  cursorIsVisible(): boolean;
  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void;
  /** Resolves with the exit code once everything has been drawn. */
  exit(): Promise<number>;
}

export function openTerminal(options: TerminalOptions): TestTerminal {
  const { columns = 80, rows = 24 } = options;
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  const child = spawn(options.file, [...options.args], {
    name: options.env['TERM'] ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: options.cwd,
    env: options.env,
  });
  const watchers = new Set<() => void>();
  let raw = '';
  let lastData = 0;
  let exited: number | undefined;
  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  child.onData(data => {
    raw += data;
    lastData = Date.now();
    screen.write(data, changed);
  });
  // The terminal answers what a program asks it: its size, where the cursor is.
  screen.onData(answer => child.write(answer));
  child.onExit(({ exitCode, signal }) => {
    exited = signal === undefined || signal === 0 ? exitCode : 128 + signal;
    changed();
  });

  const line = (at: number) => screen.buffer.active.getLine(at);
  const shown = () => {
    const { baseY } = screen.buffer.active;
    const rows = Array.from({ length: screen.rows }, (_, row) => line(baseY + row)?.translateToString(true));
    return rows.join('\n').trimEnd();
  };
  const text = () => {
    let all = '';
    for (let at = 0; at < screen.buffer.active.length; at += 1) {
      const isWrapped = line(at + 1)?.isWrapped === true;
      all += `${line(at)?.translateToString(!isWrapped) ?? ''}${isWrapped ? '' : '\n'}`;
    }
    return all.trimEnd();
  };

  const until = (isSo: () => boolean, what: string) =>
    new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(deadline);
        watchers.delete(look);
      };
      const look = () => {
        if (isSo()) {
          stop();
          resolve();
        } else if (exited !== undefined && !what.startsWith('the exit')) {
          setTimeout(() => {
            if (!watchers.has(look)) return;
            stop();
            if (isSo()) resolve();
            else reject(new Error(`exited with ${exited} without ${what}; the screen:\n${text()}`));
          }, QUIET_MS);
        }
      };
      const deadline = setTimeout(() => {
        stop();
        reject(new Error(`no ${what} in time; the screen:\n${text()}\n${JSON.stringify(raw.slice(-400))}`));
      }, DEADLINE_MS);
      watchers.add(look);
      look();
    });

  return {
    type: text => child.write(text),
    paste: text => child.write(`\u001b[200~${text}\u001b[201~`),
    press: (...keys) => {
      for (const key of keys) child.write(KEYS[key]);
    },
    waitFor: wanted =>
      until(
        () => (typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text())),
        typeof wanted === 'string' ? JSON.stringify(wanted) : String(wanted),
      ),
    waitForScreen: (...lines) =>
      until(() => shown() === lines.join('\n'), `the screen\n${lines.join('\n')}\n`),
    screen: shown,
    text,
    raw: () => raw,
    cursorIsVisible: () => raw.lastIndexOf('\u001b[?25h') >= raw.lastIndexOf('\u001b[?25l'),
    kill: signal => child.kill(signal),
    exit: async () => {
      await until(() => exited !== undefined, 'the exit');
      // Nothing may have been drawn yet.
      lastData = Date.now();
      while (Date.now() - lastData < QUIET_MS) {
        await new Promise(resolve => setTimeout(resolve, QUIET_MS));
      }
      return exited ?? -1;
    },
  };
}
