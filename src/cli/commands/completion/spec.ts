import type { CommandSpec } from '../../core/command-spec.ts';
import { COMPLETION_LINES } from '../../settings/completion-lines.ts';

const [BASH, ZSH, FISH, POWERSHELL] = COMPLETION_LINES;
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export const COMPLETION = {
  path: 'completion',
  summary: 'print the completion script of a shell',
  arguments: [['<shell>', SHELLS.join(', '), SHELLS]],
  examples: [
    `bash: ${BASH.install}`,
    `zsh: ${ZSH.install}`,
    `fish: ${FISH.install}`,
    `powershell: ${POWERSHELL.install}`,
  ],
  notes:
    'Each line installs completion for one shell; it works in shells that are started afterwards, and does nothing once promptrun is gone. Prompts are offered by their slugs, with their inputs. promptrun uninstall removes the line.',
} as const satisfies CommandSpec;
