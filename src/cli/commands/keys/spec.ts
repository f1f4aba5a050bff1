import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from '../../core/shared-flags.ts';

export const KEYS = {
  path: 'keys',
  aliases: ['key'],
  summary: 'API keys of the local service',
  examples: ['keys create --user ci', 'keys list'],
} as const satisfies CommandSpec;

export const KEYS_CREATE = {
  path: 'keys create',
  summary: 'create a key and print it once',
  flags: [
    ['--user <name>', 'whose key it is (default: local)'],
    ['--plan <plan>', "a new user's plan: pro or none", { choices: ['pro', 'none'] }],
    ['--credits <n>', "a new user's credits"],
    ['--author', 'its holder may publish prompts to a serve'],
    DATABASE_FLAG,
  ],
  examples: [
    'keys create',
    'keys create --user ci --plan pro --credits 1000',
    'keys create --user ada --author',
  ],
  notes: `The key is printed once and kept as a hash only. A user who is new gets the plan and credits given; one who is there \
keeps theirs: users set changes them. The holder of an author's key may publish prompts over HTTP.
A user has at most 10 keys at a time.`,
} as const satisfies CommandSpec;

export const KEYS_LIST = {
  path: 'keys list',
  summary: 'the keys there are, never their text',
  flags: [DATABASE_FLAG],
  examples: ['keys list'],
  notes: 'Piped, a line is: id, user, plan, credits, created at, last used at or nothing.',
} as const satisfies CommandSpec;

export const KEYS_REVOKE = {
  path: 'keys revoke',
  summary: 'make a key invalid',
  arguments: [['<id>', 'as keys list shows it, or the beginning of one']],
  flags: [DATABASE_FLAG],
  examples: ['keys list', 'keys revoke <id>'],
} as const satisfies CommandSpec;
