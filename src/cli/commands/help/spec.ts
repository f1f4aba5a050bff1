import type { CommandSpec } from '../../core/command-spec.ts';

export const HELP = {
  path: 'help',
  summary: 'explain a command or a topic, print a guide',
  arguments: [['[topic...]', 'a command, or one of the topics or guides below']],
  examples: ['help runs list', 'help environment', 'help prompt-files'],
  notes: `Topics: flags, environment, exit-codes
Guides: prompt-files, tests, how-sure, batch, services, models, serve, agents, \
moving; after the help of the command if there is one of that name`,
} as const satisfies CommandSpec;
