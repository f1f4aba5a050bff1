import type { CommandSpec } from '../../core/command-spec.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const COMPLETION = {
  path: 'completion',
  summary: 'print the completion script of a shell',
  arguments: [['<shell>', SHELLS.join(', '), SHELLS]],
  examples: [
    "bash: echo 'source <(promptrun completion bash)' >> ~/.bashrc",
    "zsh:  echo 'source <(promptrun completion zsh)' >> ~/.zshrc",
    'fish: promptrun completion fish > ~/.config/fish/completions/promptrun.fish',
    'powershell: promptrun completion powershell | Add-Content $PROFILE',
  ],
  notes:
    'These install it for good; it works in shells that are started afterwards. Prompts are offered by their slugs, with their inputs.',
} as const satisfies CommandSpec;
