import type { CommandSpec } from '../../core/command-spec.ts';

export const RESET = {
  path: 'reset',
  summary: 'clear the caches, the journal, or everything stored about services',
  arguments: [['<part>', 'caches, journal or all', { completes: ['caches', 'journal', 'all'] }]],
  flags: [['-y, --yes', 'do not ask for confirmation']],
  examples: ['reset caches', 'reset all --yes'],
  notes: `caches   the cached models and prompts; they are fetched again when needed
journal  the list of runs started on this machine; the runs themselves remain on their services
all      both, and profiles, keys, aliases and settings

Never touches the prompts, runs and keys of the local service; promptrun config path shows where they are.`,
} as const satisfies CommandSpec;
