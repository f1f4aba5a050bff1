import { spawn } from 'node:child_process';
import { resolveProgram } from '../../processes/find-program.ts';
import { getShellPath, NO_CURRENT_DIRECTORY_ENV } from '../../processes/system-programs.ts';
import type { Env } from '../../utils/env.ts';
import type { Io } from './io.ts';
import type { TerminalContext } from './terminal-context.ts';

/** The part of a command's context that a pager needs. */
export interface PagerContext extends Pick<TerminalContext, 'env' | 'onInterrupt'> {
  readonly io: Pick<Io, 'out' | 'stdout'>;
  readonly globals: { readonly pager: boolean };
}

/** The shell's exit codes for a command that can't be run. */
const NOT_RUNNABLE_EXIT_CODES = [126, 127];

/**
 * Shows a text, through the pager if it is longer than the screen and paging is on.
 *
 * @param configuredPager the setting `pager`; it wins over `$PAGER`
 */
export async function showInPager(
  ctx: PagerContext,
  text: string,
  configuredPager: string | undefined,
): Promise<void> {
  const pager = findPager(ctx, text, configuredPager);
  if (pager === undefined || !(await runPager(ctx, pager, text))) await ctx.io.out(text);
}

/**
 * Returns the pager, as git does: the setting, `$PAGER` or less; none for short texts,
 * `--no-pager`, `cat` or an empty name.
 */
function findPager(
  ctx: PagerContext,
  text: string,
  configuredPager: string | undefined,
): string | undefined {
  if (!ctx.globals.pager || !ctx.io.stdout.isTerminal) return undefined;
  const pager = (configuredPager ?? ctx.env.PAGER ?? 'less').trim();
  if (pager === '' || pager === 'cat' || countLineBreaks(text) < ctx.io.stdout.rows) {
    return undefined;
  }
  return isPagerInstalled(pager, ctx.env) ? pager : undefined;
}

/**
 * Returns false if the pager is known to be missing; a system may have no `less`. With cmd.exe,
 * only a look-up distinguishes a missing program from one that failed.
 */
function isPagerInstalled(pager: string, env: Env): boolean {
  const [, quotedName, bareName] = /^(?:"([^"]*)"|(\S+))/u.exec(pager) ?? [];
  if (pager !== 'less' && process.platform !== 'win32') return true;
  return resolveProgram(quotedName ?? bareName ?? '', process.cwd(), env) !== undefined;
}

function countLineBreaks(text: string): number {
  return text.split('\n').length - 1;
}

/**
 * Returns false if the pager could not be started. Ctrl-C belongs to the pager, and quitting it
 * early is not an error.
 */
async function runPager(ctx: PagerContext, pager: string, text: string): Promise<boolean> {
  // This is the user's own command line; the text reaches it only by standard input.
  const child = spawn(pager, {
    shell: getShellPath(ctx.env),
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', LV: '-c', ...ctx.env, ...NO_CURRENT_DIRECTORY_ENV },
  });
  const stopListening = ctx.onInterrupt(signal => {
    if (signal === 'SIGTERM') child.kill();
  });
  try {
    return await new Promise<boolean>(resolve => {
      child.on('error', () => resolve(false));
      child.on('close', code => resolve(code === null || !NOT_RUNNABLE_EXIT_CODES.includes(code)));
      child.stdin.on('error', () => undefined);
      child.stdin.end(text);
    });
  } finally {
    stopListening();
  }
}
