import type { CommandSpec } from '../../core/command-spec.ts';
import { DATABASE_FLAG } from './shared-flags.ts';

const USER_ROW = 'Piped, a line is: user, plan, credits, number of keys.';

/** The commands that serve this machine's store, and its keys. */
export const LOCAL_COMMANDS: readonly CommandSpec[] = [
  {
    path: 'serve',
    summary: 'offer the local service over HTTP',
    flags: [
      ['--host <host>', 'the address to listen on', { default: '127.0.0.1' }],
      ['--port <port>', 'the port to listen on; 0 picks a free one', { default: '8787' }],
      ['--sync-window <duration>', 'how long a creation is kept waiting for its run', { default: '120s' }],
      ['--prompts <dir>', 'publish the prompt files there, again on each change'],
      ['--rate-limit <n>', 'requests a second for each key; none without it'],
      ['--max-queued <n>', 'runs of one user that may be queued; over it 429', { default: '10000' }],
      DATABASE_FLAG,
      ['--media-dir <dir>', 'with --database: keep media in a directory that all instances share'],
      ['--new-store', 'put the store aside, and begin a new one beside it'],
      ['--public-url <url>', 'where others reach it: media URLs begin with it'],
      ['--hide-templates', 'show the templates of prompts to the user local alone'],
      ['--no-rerun', 'fail runs that a dead process had begun, instead of running them once more'],
      ['--grace <duration>', 'how long running runs are given at the end', { default: '10s' }],
      ['--no-page', 'leave out the page for people at the root'],
    ],
    examples: [
      'serve',
      'serve --port 0 --prompts ./prompts --rate-limit 5',
      'serve --host 0.0.0.0 --public-url https://prompts.example/team',
    ],
    notes: `The first line on standard output is "listening on http://…/v1"; the first start
prints a key as well. SIGTERM and Ctrl-C: no new requests, running runs are given
--grace, the rest go on at the next start; with --no-rerun they have failed, since
a second bill may be worse than a lost answer.

Limits of a user: 10,000 queued runs (--max-queued; over it 429), 2 GiB of media
(507), 10 keys. Of a request: 64 MiB, a picture 20 MiB (413), 100,000 values.
Of a prompt: 128 KiB, 1,000 fields; a render 1,000,000 loop turns, 8 MiB, 2 s.
Of the service: 256 MiB of requests in memory (429), 4,096 connections.`,
    load: () => import('../../commands/serve/serve.ts').then(file => file.serve),
  },
  {
    path: 'keys',
    aliases: ['key'],
    summary: 'API keys of the local service',
    examples: ['keys create --user ci', 'keys list'],
  },
  {
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
    notes: `The key is printed once and kept as a hash only. A user who is new gets the plan and credits given; one who is there
keeps theirs: users set changes them. The holder of an author's key may publish prompts over HTTP.
A user has at most 10 keys at a time.`,
    load: () => import('../../commands/keys/keys.ts').then(file => file.keysCreate),
  },
  {
    path: 'keys list',
    summary: 'the keys there are, never their text',
    flags: [DATABASE_FLAG],
    examples: ['keys list'],
    notes: 'Piped, a line is: id, user, plan, credits, created at, last used at or nothing.',
    load: () => import('../../commands/keys/keys.ts').then(file => file.keysList),
  },
  {
    path: 'keys revoke',
    summary: 'make a key invalid',
    arguments: [['<id>', 'as keys list shows it, or the beginning of one']],
    flags: [DATABASE_FLAG],
    examples: ['keys list', 'keys revoke <id>'],
    load: () => import('../../commands/keys/keys.ts').then(file => file.keysRevoke),
  },
  {
    path: 'users',
    aliases: ['user'],
    summary: 'users of the local service, their plans and credits',
    examples: ['users list', 'users set ci --credits +500'],
  },
  {
    path: 'users list',
    summary: 'the users of the local service',
    flags: [DATABASE_FLAG],
    examples: ['users list'],
    notes: USER_ROW,
    load: () => import('../../commands/users/users.ts').then(file => file.usersList),
  },
  {
    path: 'users show',
    summary: 'plan, credits and number of keys of a user',
    arguments: [['<user>', 'whom']],
    flags: [DATABASE_FLAG],
    examples: ['users show ci', 'users show ci --query credits'],
    notes: USER_ROW,
    load: () => import('../../commands/users/users.ts').then(file => file.usersShow),
  },
  {
    path: 'users set',
    summary: 'change the credits or the plan of a user',
    arguments: [['<user>', 'whom']],
    flags: [
      ['--credits <n>', 'their credits from now on; +n or -n for so many more or fewer'],
      ['--plan <plan>', 'pro or none', { choices: ['pro', 'none'] }],
      DATABASE_FLAG,
    ],
    examples: ['users set ci --credits 5000', 'users set ci --credits +500', 'users set ci --plan none'],
    load: () => import('../../commands/users/users.ts').then(file => file.usersSet),
  },
];
