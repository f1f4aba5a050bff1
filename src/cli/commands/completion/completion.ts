import type { Context } from '../../context.ts';
import { didYouMean } from '../../core/nearest.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { COMPLETION_SCRIPTS, type CompletionShell } from './scripts.ts';

const SHELLS = Object.keys(COMPLETION_SCRIPTS) as readonly CompletionShell[];

/** Prints the completion script of a shell. */
export async function completion(ctx: Context, shell: string): Promise<ExitCode> {
  const known = SHELLS.find(name => name === shell);
  if (known === undefined) {
    throw usageError(
      `there is no completion for ${JSON.stringify(shell)}${didYouMean(shell, SHELLS)}`,
      `shells are ${SHELLS.join(', ')}`,
    );
  }
  await ctx.io.out(COMPLETION_SCRIPTS[known]);
  return EXIT.ok;
}
