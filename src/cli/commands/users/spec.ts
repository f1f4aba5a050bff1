import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from '../../core/shared-flags.ts';

const USER_COLUMNS_NOTE = 'Columns when piped: user, plan, credits, number of keys.';

export const USERS = {
  path: 'users',
  aliases: ['user'],
  summary: 'manage users of the local service, their plans and credits',
  examples: ['users list', 'users set ci --credits +500'],
  notes: 'The first key creates a user: promptrun keys create --user <name>',
} as const satisfies CommandSpec;

export const USERS_LIST = {
  path: 'users list',
  summary: 'list the users of the local service',
  flags: [DATABASE_FLAG],
  examples: ['users list'],
  notes: USER_COLUMNS_NOTE,
} as const satisfies CommandSpec;

export const USERS_SHOW = {
  path: 'users show',
  summary: 'show the plan, credits and number of keys of a user',
  arguments: [['<user>', 'the name of the user']],
  flags: [DATABASE_FLAG],
  examples: ['users show ci', 'users show ci --query credits'],
  notes: USER_COLUMNS_NOTE,
} as const satisfies CommandSpec;

export const USERS_SET = {
  path: 'users set',
  summary: 'change the credits or the plan of a user',
  arguments: [['<user>', 'the name of the user']],
  flags: [
    ['--credits <n>', 'the new balance; +n adds and -n removes credits'],
    ['--plan <plan>', 'the new plan', { choices: ['pro', 'none'] }],
    DATABASE_FLAG,
  ],
  examples: [
    'users set ci --credits 5000',
    'users set ci --credits +500',
    'users set ci --plan none',
  ],
} as const satisfies CommandSpec;
