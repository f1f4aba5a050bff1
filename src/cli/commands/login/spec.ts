import type { CommandSpec } from '../../core/command-spec.ts';

export const LOGIN = {
  path: 'login',
  summary: 'store an API key for a profile',
  flags: [['--no-keychain', 'store the key in a file, not in the system keychain']],
  examples: [
    'login --base-url https://prompts.example.com/v1',
    'login --profile work --base-url https://prompts.example',
  ],
  notes:
    'Asks for the address and the key. Without a terminal, reads the key from standard input. Stores the key only if the service accepts it.',
} as const satisfies CommandSpec;

export const LOGOUT = {
  path: 'logout',
  summary: 'remove the API key of a profile',
  examples: ['logout', 'logout --profile work'],
} as const satisfies CommandSpec;
