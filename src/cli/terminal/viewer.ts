import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from '../core/types.ts';
import type { TerminalContext } from './terminal-context.ts';

/** How long a viewer is waited for that does not hand the file on at once, in milliseconds. */
const PATIENCE_MS = 2000;

/**
 * Opens a file or a web address with the system's viewer; a note where that is impossible. No shell reads the name.
 *
 * @param target a path relative to the working directory, or an http(s) or `file:` URL
 */
export async function openInViewer(ctx: TerminalContext, target: string): Promise<void> {
  const opened = openable(ctx.cwd, target);
  if (opened === undefined) {
    ctx.io.note(`note: this is neither a file nor a web address, and is not opened: ${target}`);
    return;
  }
  const [program, ...args] = viewerFor(process.platform, opened);
  const fault = await started(program, args, ctx.env);
  if (fault !== undefined) ctx.io.note(`note: ${target} could not be opened: ${fault}`);
}

function openable(cwd: string, target: string): string | undefined {
  if (/^https?:\/\//iu.test(target)) return URL.canParse(target) ? new URL(target).href : undefined;
  if (/^file:/iu.test(target)) return URL.canParse(target) ? fileURLToPath(target) : undefined;
  return /^[a-z][a-z0-9+.-]+:/iu.test(target) && process.platform !== 'win32'
    ? undefined
    : path.resolve(cwd, target);
}

/** The words that open something, by platform. */
export function viewerFor(platform: NodeJS.Platform, target: string): [string, ...string[]] {
  if (platform === 'darwin') return ['open', target];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', target];
  return ['xdg-open', target];
}

/** What went wrong; undefined where the viewer was started. */
function started(program: string, args: readonly string[], env: Env): Promise<string | undefined> {
  return new Promise(resolve => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true, env: { ...env } });
    const timer = setTimeout(() => {
      child.unref();
      resolve(undefined);
    }, PATIENCE_MS);
    const end = (fault: string | undefined): void => {
      clearTimeout(timer);
      resolve(fault);
    };
    child.once('error', error => end(error.message));
    child.once('exit', code =>
      end(code === 0 || code === null ? undefined : `${program} ended with ${code}`),
    );
  });
}
