import { spawn } from 'node:child_process';
import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../processes/find-program.ts';
import { getWindowsProgramPath } from '../../processes/system-programs.ts';
import type { Env } from '../../utils/env.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { toOneLine } from './sanitise.ts';
import type { TerminalContext } from './terminal-context.ts';

/** Maximum time to wait for a viewer that does not return at once, in milliseconds. */
const VIEWER_TIMEOUT_MS = 2000;

/** Opens a file that this command wrote with the system's viewer; writes a note if that fails. */
export async function openFile(ctx: TerminalContext, file: string): Promise<void> {
  await openInViewer(ctx, file, path.resolve(ctx.cwd, file));
}

/**
 * Opens a text from a temporary file, which is left there: a viewer may read it after this command
 * has ended. Writes a note if that fails.
 */
export async function openText(ctx: TerminalContext, name: string, text: string): Promise<void> {
  try {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'promptrun-open-')), name);
    await writeFile(file, text, { mode: 0o600 });
    await openInViewer(ctx, file, file);
  } catch (error) {
    ctx.io.note(`note: ${name} could not be opened: ${toOneLine(getErrorMessage(error))}`);
  }
}

/**
 * Opens a URL from a service: http, https, or a file below promptrun's own directory. Writes a note
 * for any other URL. Starts no shell.
 *
 * @param ownFilesFolder the directory that `file:` URLs may point into; undefined if the service is not
 * this process's own
 */
export async function openUrl(
  ctx: TerminalContext,
  address: string,
  ownFilesFolder?: string,
): Promise<void> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const target = url && (await findOpenableTarget(url, ownFilesFolder));
  if (target !== undefined) return openInViewer(ctx, address, target);
  ctx.io.note(
    `note: this is neither a saved file nor a web address, and is not opened: ${toOneLine(address)}`,
  );
}

async function findOpenableTarget(
  url: URL,
  ownFilesFolder: string | undefined,
): Promise<string | undefined> {
  if (/^https?:$/u.test(url.protocol)) return url.href;
  if (url.protocol !== 'file:' || url.host !== '' || ownFilesFolder === undefined) return undefined;
  try {
    const file = await realpath(fileURLToPath(url));
    return file.startsWith((await realpath(ownFilesFolder)) + path.sep) ? file : undefined;
  } catch {
    // The file is missing or, on Windows, its URL has no drive.
    return undefined;
  }
}

async function openInViewer(
  { io, env }: TerminalContext,
  name: string,
  target: string,
): Promise<void> {
  const [program, ...args] = buildViewerArgv(process.platform, target, env);
  const fault = await startViewer(program, args, env);
  if (fault !== undefined) io.note(`note: ${toOneLine(name)} could not be opened: ${fault}`);
}

/** Returns the argv that opens a target on a platform. */
function buildViewerArgv(
  platform: NodeJS.Platform,
  target: string,
  env: Env,
): [string, ...string[]] {
  if (platform === 'darwin') return ['/usr/bin/open', target];
  if (platform === 'win32') {
    return [getWindowsProgramPath('rundll32.exe', env), 'url.dll,FileProtocolHandler', target];
  }
  return [findProgram('xdg-open', env, platform) ?? 'xdg-open', target];
}

/** Starts a viewer. Returns the error; undefined if it was started. */
function startViewer(
  program: string,
  args: readonly string[],
  env: Env,
): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = spawn(program, args, {
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      env: { ...env },
    });
    const timer = setTimeout(() => {
      child.unref();
      resolve(undefined);
    }, VIEWER_TIMEOUT_MS);
    const finish = (fault: string | undefined): void => {
      clearTimeout(timer);
      resolve(fault);
    };

    child.once('error', error => finish(error.message));
    child.once('exit', code =>
      finish(code === 0 || code === null ? undefined : `${program} ended with ${code}`),
    );
  });
}
