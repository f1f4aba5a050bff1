import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { isPosix } from '../system.ts';

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

/** A command on a real terminal, and what a person would see on its screen. */
export interface TestTerminal {
  type(text: string): void;
  /** Pastes a text, as a terminal does into a program that asked for bracketed paste. */
  paste(text: string): void;
  press(...keys: readonly Key[]): void;
  /** Resolves once the screen, or what scrolled off it, shows the text or matches. */
  waitFor(pattern: string | RegExp): Promise<void>;
  /** Resolves once the screen shows these lines and nothing else. */
  waitForScreen(...lines: readonly string[]): Promise<void>;
  /** Returns the visible lines without trailing blanks and empty lines. */
  screen(): string;
  /**
   * Returns the scrollback and the screen, with lines as they were written before they were
   * wrapped.
   */
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
  const screen = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 5000,
    allowProposedApi: true,
  });

  const child = spawn(options.file, [...options.args], {
    name: options.env['TERM'] ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: options.cwd,
    env: options.env,
  });

  const watchers = new Set<() => void>();
  let raw = '';
  let exited: number | undefined;

  const changed = () => {
    for (const watcher of watchers) watcher();
  };

  const show = (data: string) => {
    raw += data;
    screen.write(data, changed);
  };

  // The terminal answers what a program asks it: its size, where the cursor is.
  screen.onData(answer => child.write(answer));

  onEnd(child, show, code => {
    // The screen draws in order what it is sent.
    screen.write('', () => {
      exited = code;
      changed();
    });
  });

  const line = (at: number) => screen.buffer.active.getLine(at);

  const shown = () => {
    const { baseY } = screen.buffer.active;
    const rows = Array.from({ length: screen.rows }, (_, row) =>
      line(baseY + row)?.translateToString(true),
    );
    return rows.join('\n').trimEnd();
  };

  const text = () => {
    let all = '';
    for (let index = 0; index < screen.buffer.active.length; index += 1) {
      const isWrapped = line(index + 1)?.isWrapped === true;
      all += `${line(index)?.translateToString(!isWrapped) ?? ''}${isWrapped ? '' : '\n'}`;
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
        } else if (exited !== undefined) {
          stop();
          reject(new Error(`exited with ${exited} without ${what}; the screen:\n${text()}`));
        }
      };

      const deadline = setTimeout(() => {
        stop();
        reject(
          new Error(
            `no ${what} in time; the screen:\n${text()}\n${JSON.stringify(raw.slice(-400))}`,
          ),
        );
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
    waitFor: pattern =>
      until(
        () => (typeof pattern === 'string' ? text().includes(pattern) : pattern.test(text())),
        typeof pattern === 'string' ? JSON.stringify(pattern) : String(pattern),
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
      return exited ?? -1;
    },
  };
}

/** A byte that no program of the tests writes, and that a terminal ignores. */
const END_MARK = '\0';

/**
 * Calls `show` with each piece of a program's output, and then `end` with its exit code: after all
 * of its output.
 */
function onEnd(child: IPty, show: (data: string) => void, end: (code: number) => void): void {
  let code: number | undefined;
  const programSide = isPosix ? openProgramSide(child) : undefined;
  child.onData(data => {
    if (code === undefined || !data.includes(END_MARK)) return show(data);
    show(data.replace(END_MARK, ''));
    if (programSide !== undefined) closeSync(programSide);
    end(code);
  });

  child.onExit(({ exitCode, signal }) => {
    code = signal === undefined || signal === 0 ? exitCode : 128 + signal;
    if (programSide === undefined) {
      end(code);
    } else {
      writeMark(programSide);
    }
  });
}

/**
 * Opens the side of the terminal that its program writes to. Once nobody has it open, Node stops
 * reading at the next pause, although some output has not been read; node-pty stops 200 ms after
 * the exit at the latest.
 */
function openProgramSide(child: IPty): number {
  Reflect.set(child, '_emittedClose', true); // so that node-pty reports the exit and closes nothing
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = constants;
  return openSync(String(Reflect.get(child, 'ptsName')), O_WRONLY | O_NOCTTY | O_NONBLOCK);
}

/** Writes the mark behind all output of the program, once there is room. */
function writeMark(programSide: number): void {
  try {
    writeSync(programSide, END_MARK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    setImmediate(() => writeMark(programSide));
  }
}
