import { readInstalledText } from '../../../files/installed/installed-file.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { explainUnknownName } from '../../core/unknown-name.ts';

/** The scripts in completions/, by shell. They leave all logic to the program. */
const SCRIPT_FILES = new Map([
  ['bash', 'promptrun.bash'],
  ['zsh', '_promptrun'],
  ['fish', 'promptrun.fish'],
  ['powershell', 'promptrun.ps1'],
]);

export async function printCompletion(ctx: Context, shell: string): Promise<void> {
  const scriptFile = SCRIPT_FILES.get(shell);
  if (scriptFile === undefined) {
    throw usageError(...explainUnknownName('shell', shell, [...SCRIPT_FILES.keys()]));
  }
  await ctx.io.out(readInstalledText(`completions/${scriptFile}`));
}
