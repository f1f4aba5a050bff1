import { COMPLETION_SETUPS } from '../../complete/completion-setups.ts';
import type { CommandSpec } from '../../core/command-spec.ts';

const [BASH, ZSH, FISH, POWERSHELL] = COMPLETION_SETUPS;
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const COMPLETION = {
  path: 'completion',
  summary: 'print the completion script for a shell',
  arguments: [['<shell>', SHELLS.join(', '), { completes: SHELLS }]],
  examples: [
    `bash: ${BASH.installCommand}`,
    `zsh: ${ZSH.installCommand}`,
    `fish: ${FISH.installCommand}`,
    `powershell: ${POWERSHELL.installCommand}`,
  ],
  notes:
    'Each line installs completion for one shell. Start a new shell to use it. In the Terminal of macOS, bash reads ~/.bash_profile instead. The line does nothing after promptrun has been removed, and promptrun uninstall removes it. Completion offers prompts by slug, and their inputs.',
} as const satisfies CommandSpec;
