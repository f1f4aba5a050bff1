import type { Command } from 'commander';
import type { Context, Host } from '../../context.ts';
import { didYouMean } from '../../core/nearest.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { COMPLETION_SCRIPTS, type CompletionShell } from './scripts.ts';

const SHELLS = Object.keys(COMPLETION_SCRIPTS) as readonly CompletionShell[];

const EXAMPLES = `
Examples:
  bash        echo 'source <(promptrun completion bash)' >> ~/.bashrc
  zsh         echo 'source <(promptrun completion zsh)' >> ~/.zshrc
  fish        promptrun completion fish > ~/.config/fish/completions/promptrun.fish
  powershell  Add-Content $PROFILE 'promptrun completion powershell | Out-String | Invoke-Expression'

These install it for good; it works in shells that are started afterwards. Prompts are offered by their slugs, with their inputs.`;

export function declareCompletion(command: Command, host: Host, run = completion): void {
  command
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText('after', EXAMPLES)
    .action((shell: string) => host.runAction(command, ctx => run(ctx, { shell })));
}

/** Prints the completion script of a shell. */
export async function completion(ctx: Context, { shell }: { readonly shell: string }): Promise<ExitCode> {
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
