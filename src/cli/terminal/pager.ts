import { spawn } from 'node:child_process';
import { NOT_FROM_HERE, resolveProgram, shellProgram } from '../../files/programs.ts';
import type { Env } from '../core/types.ts';
import type { Io } from './io.ts';
import type { TerminalContext } from './terminal-context.ts';

/** What a pager needs of a command's context. */
export interface PagerContext extends Pick<TerminalContext, 'env' | 'onInterrupt'> {
  readonly io: Pick<Io, 'out' | 'stdout'>;
  readonly globals: { readonly pager: boolean };
}

// The shell's codes for a command that can't be run.
const NOT_RUNNABLE = [126, 127];

/**
 * Shows a text, through the pager if it is longer than the screen and that is wanted.
 *
 * @param preferred the setting `pager`; it wins over `$PAGER`
 */
export async function page(ctx: PagerContext, text: string, preferred: string | undefined): Promise<void> {
  const pager = pagerFor(ctx, text, preferred);
  if (pager === undefined || !(await runPager(ctx, pager, text))) await ctx.io.out(text);
}

/** As git does: the setting, then `$PAGER`, then less; none for short texts, `--no-pager`, `cat` or an empty name. */
function pagerFor(ctx: PagerContext, text: string, preferred: string | undefined): string | undefined {
  if (!ctx.globals.pager || !ctx.io.stdout.isTerminal) return undefined;
  const pager = (preferred ?? ctx.env.PAGER ?? 'less').trim();
  if (pager === '' || pager === 'cat' || lineCount(text) < ctx.io.stdout.rows) return undefined;
  return isThere(pager, ctx.env) ? pager : undefined;
}

/** A system may have no `less`. Where the shell is cmd.exe, only a look-up tells a program that is missing from one that failed. */
function isThere(pager: string, env: Env): boolean {
  const [, quoted, bare] = /^(?:"([^"]*)"|(\S+))/u.exec(pager) ?? [];
  if (pager !== 'less' && process.platform !== 'win32') return true;
  return resolveProgram(quoted ?? bare ?? '', process.cwd(), env) !== undefined;
}

function lineCount(text: string): number {
  return text.split('\n').length - 1;
}

/** False where the pager could not be started. Ctrl-C is the pager's while it runs, and quitting it early is not a fault. */
async function runPager(ctx: PagerContext, pager: string, text: string): Promise<boolean> {
  // The user's own command line; the text only ever goes in by its standard input.
  const child = spawn(pager, {
    shell: shellProgram(ctx.env),
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', LV: '-c', ...ctx.env, ...NOT_FROM_HERE },
  });
  const giveBack = ctx.onInterrupt(signal => {
    if (signal === 'SIGTERM') child.kill();
  });
  try {
    return await new Promise<boolean>(resolve => {
      child.on('error', () => resolve(false));
      child.on('close', code => resolve(code === null || !NOT_RUNNABLE.includes(code)));
      child.stdin.on('error', () => undefined);
      child.stdin.end(text);
    });
  } finally {
    giveBack();
  }
}
