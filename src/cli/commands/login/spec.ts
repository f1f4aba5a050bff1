import type { CommandSpec } from '../../core/command-spec.ts';

export const LOGIN = {
  path: 'login',
  summary: 'store an API key for a profile',
  flags: [['--no-keychain', 'keep the key in a file, not in the system keychain']],
  examples: [
    'login --base-url https://prompts.example.com/v1',
    'login --profile work --base-url https://prompts.example < key.txt',
  ],
  notes:
    'The address and the key are asked for; off a terminal the key is read from standard input. It is checked before it is kept.',
} as const satisfies CommandSpec;

export const LOGOUT = {
  path: 'logout',
  summary: 'forget the API key of a profile',
  examples: ['logout', 'logout --profile work'],
} as const satisfies CommandSpec;
