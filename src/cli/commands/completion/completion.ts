import { readInstalledText } from '../../../files/installed/installed-file.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { explainUnknownName } from '../../core/unknown-name.ts';

/** The script of each shell, in completions/. The scripts leave all logic to the program. */
const SCRIPTS = new Map([
  ['bash', 'promptrun.bash'],
  ['zsh', '_promptrun'],
  ['fish', 'promptrun.fish'],
  ['powershell', 'promptrun.ps1'],
]);

export async function printCompletion(ctx: Context, shell: string): Promise<void> {
  const script = SCRIPTS.get(shell);
  if (script === undefined) {
    throw usageError(...explainUnknownName('shell', shell, [...SCRIPTS.keys()]));
  }
  await ctx.io.out(readInstalledText(`completions/${script}`));
}
