import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  getShellPath,
  getWindowsProgramPath,
  NO_CURRENT_DIRECTORY_ENV,
} from '../../processes/system-programs.ts';
import type { Env } from '../../utils/env.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';

const STANDARD_INPUT = 0;

/** The editor draws on standard error, because standard output is for results. */
const STANDARD_ERROR = 2;

interface EditorOptions {
  readonly env: Env;
  /** Ends the editor. */
  readonly signal: AbortSignal;
}

/**
 * Lets the user edit a text in $VISUAL, $EDITOR or the platform's editor; returns it without the
 * last newline.
 */
export async function editText(text: string, options: EditorOptions): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'promptrun-'));
  const file = path.join(folder, 'text.txt');
  try {
    await writeFile(file, text === '' || text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 });
    await runEditor(file, options);
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function chooseEditor(env: Env): string {
  return (
    env['VISUAL'] ||
    env['EDITOR'] ||
    (process.platform === 'win32' ? `"${getWindowsProgramPath('notepad.exe', env)}"` : 'vi')
  );
}

async function runEditor(file: string, { env, signal }: EditorOptions): Promise<void> {
  const editor = chooseEditor(env);
  const [command, ...words] = buildEditorCommand(editor, file, env);
  const child = spawn(command, words, {
    stdio: [STANDARD_INPUT, STANDARD_ERROR, STANDARD_ERROR],
    shell: process.platform === 'win32' && getShellPath(env),
    env: { ...env, ...NO_CURRENT_DIRECTORY_ENV },
    signal,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) {
    throw new CliError(`the editor "${editor}" failed`, {
      status: 'CONFIG_ERROR',
      exitCode: EXIT.usage,
      hints: ['Set VISUAL or EDITOR to an editor that works here.'],
    });
  }
}

/**
 * Returns the command of $EDITOR, which is a shell command line and may have arguments and quotes.
 */
function buildEditorCommand(editor: string, file: string, env: Env): [string, ...string[]] {
  return process.platform === 'win32'
    ? [`${editor} "${file}"`]
    : [getShellPath(env), '-c', `${editor} "$@"`, editor, file];
}
