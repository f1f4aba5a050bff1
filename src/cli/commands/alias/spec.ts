import type { CommandSpec } from '../../core/command-spec.ts';

export const ALIAS = {
  path: 'alias',
  aliases: ['aliases'],
  summary: 'manage short names for targets',
  examples: ['alias set haiku ./haiku.prompt', 'alias list'],
} as const satisfies CommandSpec;

export const ALIAS_SET = {
  path: 'alias set',
  summary: 'set a short name for a target',
  arguments: [
    ['<name>', 'the short name', { completes: 'aliases' }],
    ['<target>', 'a prompt file, a slug, or the id of a prompt or version'],
  ],
  examples: ['alias set haiku 3f1c9a52-6a0e-4a57-9d0e-6f1c2b7a8d90', 'run haiku -i topic=tea'],
} as const satisfies CommandSpec;

export const ALIAS_REMOVE = {
  path: 'alias remove',
  summary: 'remove an alias',
  arguments: [['<name>', 'the alias', { completes: 'aliases' }]],
  examples: ['alias remove haiku'],
} as const satisfies CommandSpec;

export const ALIAS_LIST = {
  path: 'alias list',
  summary: 'list the aliases',
  examples: ['alias list'],
  notes: 'Columns when piped: name, target.',
} as const satisfies CommandSpec;
