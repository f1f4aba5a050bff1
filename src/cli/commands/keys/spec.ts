import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from '../../core/shared-flags.ts';

export const KEYS = {
  path: 'keys',
  aliases: ['key'],
  summary: 'manage API keys of the local service',
  examples: ['keys create --user ci', 'keys list'],
} as const satisfies CommandSpec;

export const KEYS_CREATE = {
  path: 'keys create',
  summary: 'create a key and print it once',
  flags: [
    ['--user <name>', 'the owner of the key (default: local)'],
    ['--plan <plan>', 'the plan of a new user', { choices: ['pro', 'none'] }],
    ['--credits <n>', 'the credits of a new user'],
    ['--author', 'allow the holder to publish prompts over HTTP'],
    DATABASE_FLAG,
  ],
  examples: [
    'keys create',
    'keys create --user ci --plan pro --credits 1000',
    'keys create --user ada --author',
  ],
  notes: `The key is printed once; only its hash is stored. --plan and --credits apply to new users; change those of an \
existing user with promptrun users set. A user can have at most 10 keys at a time.`,
} as const satisfies CommandSpec;

export const KEYS_LIST = {
  path: 'keys list',
  summary: 'list the keys without revealing them',
  flags: [DATABASE_FLAG],
  examples: ['keys list'],
  notes: 'Columns when piped: id, user, plan, credits, created at, last used at (empty if never).',
} as const satisfies CommandSpec;

export const KEYS_REVOKE = {
  path: 'keys revoke',
  summary: 'revoke a key',
  arguments: [['<id>', 'an id from keys list, or its beginning']],
  flags: [DATABASE_FLAG],
  examples: ['keys list', 'keys revoke <id>'],
} as const satisfies CommandSpec;
