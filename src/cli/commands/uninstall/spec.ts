import type { CommandSpec } from '../../core/command-spec.ts';

export const UNINSTALL = {
  path: 'uninstall',
  summary: 'list and remove everything that promptrun keeps on this machine',
  flags: [
    ['-y, --yes', 'do not ask for confirmation'],
    ['--dry-run', 'list everything, but remove nothing'],
  ],
  examples: ['uninstall --dry-run', 'uninstall --yes'],
  notes: `Removes settings, keys (those in the system's keychain too), caches, the journal, the prompts, runs and media of the \
local service, and the line in the shell's start-up file that installs completion.

Your own files stay: prompt files, results, recordings, models.yaml. The last line shows how to remove the package itself.`,
} as const satisfies CommandSpec;
