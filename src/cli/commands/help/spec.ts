import type { CommandSpec } from '../../core/command-spec.ts';

export const HELP = {
  path: 'help',
  summary: 'explain a command or a topic, or print a guide',
  arguments: [['[topic...]', 'a command, or one of the topics or guides below']],
  examples: ['help runs list', 'help environment', 'help prompt-files'],
  notes: `Topics: flags, environment, exit-codes
Guides: prompt-files, tests, how-sure, batch, services, models, serve, agents, \
moving, scale. If a command has the same name, the guide follows its help.`,
} as const satisfies CommandSpec;
