import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from '../../core/shared-flags.ts';

const USER_ROW = 'Piped, a line is: user, plan, credits, number of keys.';

export const USERS = {
  path: 'users',
  aliases: ['user'],
  summary: 'users of the local service, their plans and credits',
  examples: ['users list', 'users set ci --credits +500'],
} as const satisfies CommandSpec;

export const USERS_LIST = {
  path: 'users list',
  summary: 'the users of the local service',
  flags: [DATABASE_FLAG],
  examples: ['users list'],
  notes: USER_ROW,
} as const satisfies CommandSpec;

export const USERS_SHOW = {
  path: 'users show',
  summary: 'plan, credits and number of keys of a user',
  arguments: [['<user>', 'whom']],
  flags: [DATABASE_FLAG],
  examples: ['users show ci', 'users show ci --query credits'],
  notes: USER_ROW,
} as const satisfies CommandSpec;

export const USERS_SET = {
  path: 'users set',
  summary: 'change the credits or the plan of a user',
  arguments: [['<user>', 'whom']],
  flags: [
    ['--credits <n>', 'their credits from now on; +n or -n for so many more or fewer'],
    ['--plan <plan>', 'pro or none', { choices: ['pro', 'none'] }],
    DATABASE_FLAG,
  ],
  examples: ['users set ci --credits 5000', 'users set ci --credits +500', 'users set ci --plan none'],
} as const satisfies CommandSpec;
