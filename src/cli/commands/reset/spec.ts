import type { CommandSpec } from '../../core/command-spec.ts';

export const RESET = {
  path: 'reset',
  summary: 'clear caches, journal or all that is kept',
  arguments: [['<part>', 'caches, journal, all', ['caches', 'journal', 'all']]],
  flags: [['-y, --yes', 'do not ask']],
  examples: ['reset caches', 'reset all --yes'],
  notes: `caches   models and prompts that were read; they are read again
journal  what is known of runs started on this machine; the runs themselves stay at their services
all      both, and profiles, keys, aliases and settings

The prompts, runs and keys of the local service are never touched: see promptrun config path.`,
} as const satisfies CommandSpec;
