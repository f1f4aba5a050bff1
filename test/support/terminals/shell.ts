import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { COMMAND } from '../command.ts';
import { runInProcess } from '../context.ts';
import { buildCommandEnvironment } from '../environment.ts';
import { isPosix } from '../system.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

const PROMPT = 'READY>';

/**
 * For each shell: its script, a prompt that a test can wait for, and a command that prints its
 * arguments.
 */
const SETUP = {
  bash: (script: string) => ({
    file: 'rc',
    text: `PS1='${PROMPT}'\nbind 'set bell-style none'\nsource '${script}'\npromptrun() { printf 'ARG<%s>\\n' "$@"; echo "DONE$((calls += 1))."; }\n`,
    args: (rc: string) => ['--noprofile', '--rcfile', rc, '-i'],
  }),
  zsh: (script: string) => ({
    file: '.zshrc',
    text: `PS1='${PROMPT}'\nunsetopt beep\nsource '${script}'\npromptrun() { printf 'ARG<%s>\\n' "$@"; echo "DONE$((calls += 1))."; }\n`,
    args: () => ['-i'],
  }),
  fish: (script: string) => ({
    file: 'rc.fish',
    text: `function fish_prompt; printf '${PROMPT}'; end\nset -g fish_greeting\nset -g calls 0\nset -g fish_autosuggestion_enabled 0\nsource '${script}'\nfunction promptrun; printf 'ARG<%s>\\n' $argv; set -g calls (math $calls + 1); echo DONE$calls.; end\n`,
    args: (rc: string) => ['--no-config', '-C', `source '${rc}'`],
  }),
} as const;

/**
 * Returns true if a shell is on this machine. Those that Windows may have see other paths than
 * Node.
 */
export function hasShell(shell: Shell): boolean {
  if (!isPosix) return false;
  try {
    execFileSync(shell, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A shell on a real terminal that completes and shows the arguments a command line comes to. */
export interface CompletingShell {
  /** Types a line, presses Tab and Enter, and gives the arguments the line came to. */
  argumentsAfterTab(typed: string, rest?: string): Promise<string[]>;
  /**
   * Types a line and presses Tab twice; gives what is on the screen once it shows `wanted`, then
   * presses Enter.
   */
  screenAfterTabs(typed: string, pattern: string | RegExp): Promise<string>;
  /** Completes by the built command during `test`. */
  byBuiltCommand(test: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a shell that asks this process for completions, with the arguments as they arrive at the
 * command: a command of its own for each Tab takes most of the time.
 *
 * @param home where the command keeps its files, and the working directory
 */
export async function startCompletingShell(shell: Shell, home: string): Promise<CompletingShell> {
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  const program = path.join(bin, 'promptrun');
  const env = {
    ...buildCommandEnvironment(home),
    PATH: `${bin}${path.delimiter}${process.env['PATH'] ?? ''}`,
    // Either system lacks the other's.
    LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8',
    ZDOTDIR: home,
  };

  const script = path.join(home, 'script');
  writeFileSync(script, execFileSync(process.execPath, [COMMAND, 'completion', shell], { env }));

  const server = await startCompletionServer(home);
  const askHere = (): void => {
    rmSync(program, { force: true });
    writeFileSync(program, programAsking((server.address() as AddressInfo).port), { mode: 0o755 });
  };

  askHere();
  const setup = SETUP[shell](script);
  const rc = path.join(home, setup.file);
  writeFileSync(rc, setup.text);
  const terminal = openTerminal({
    file: shell,
    args: setup.args(rc),
    cwd: home,
    env,
    columns: 200,
    rows: 50,
  });
  await terminal.waitFor(PROMPT);

  return {
    ...talkTo(terminal),
    async byBuiltCommand(test) {
      rmSync(program);
      symlinkSync(COMMAND, program);
      await test().finally(askHere);
    },
    async close() {
      terminal.press('ctrl+c', 'ctrl+d');
      terminal.kill('SIGKILL');
      await terminal.exit();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/**
 * Returns a program that sends its arguments to a server on this machine, each ended by NUL, and
 * prints the answer.
 */
const programAsking = (port: number): string => `#!/usr/bin/env bash
exec 3<>/dev/tcp/127.0.0.1/${port}
printf '%s\\0' "$#" "$@" >&3
exec cat <&3
`;

/** Starts a server that runs the command lines it is sent, in this process. */
async function startCompletionServer(home: string): Promise<Server> {
  const server = createServer(socket => void answerOn(socket, home));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function answerOn(socket: Socket, home: string): Promise<void> {
  let sent = Buffer.alloc(0);
  for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sent = Buffer.concat([sent, piece]);
    const [count = '', ...argv] = sent.toString('utf8').split('\0').slice(0, -1);
    if (count === '' || argv.length < Number(count)) continue;
    const { stdout } = await runInProcess(argv, { home });
    socket.end(stdout());
    return;
  }
}

function talkTo(
  terminal: TestTerminal,
): Pick<CompletingShell, 'argumentsAfterTab' | 'screenAfterTabs'> {
  let lines = 0;
  const finished = async (): Promise<string> => {
    lines += 1;
    await terminal.waitFor(`DONE${lines}.`);
    return (
      terminal
        .text()
        .split(/DONE\d+\./u)
        .at(-2) ?? ''
    );
  };
  return {
    async argumentsAfterTab(typed, rest = '') {
      terminal.type(typed);
      terminal.press('tab');
      terminal.type(rest);
      terminal.press('enter');
      return [...(await finished()).matchAll(/^ARG<([^]*?)>$/gmu)].map(match => match[1] ?? '');
    },
    async screenAfterTabs(typed, pattern) {
      terminal.type(typed);
      terminal.press('tab', 'tab');
      await terminal.waitFor(pattern);
      const screen = terminal.screen();
      terminal.press('enter', 'enter'); // the first may only take what a menu offers
      await finished();
      return screen;
    },
  };
}
