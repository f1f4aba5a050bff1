import type { CommandSpec } from '../../core/command-spec.ts';

export const PROFILE = {
  path: 'profile',
  aliases: ['profiles'],
  summary: 'manage profiles: named sets of base URL and key',
  examples: ['profile add work --base-url https://prompts.example.com/v1', 'profile use work'],
} as const satisfies CommandSpec;

export const PROFILE_LIST = {
  path: 'profile list',
  summary: 'list the profiles',
  examples: ['profile list', 'profile list --query "[?active].name | [0]"'],
  notes:
    'Columns when piped: name, base URL, where the key is (file, keychain or none), active or empty.',
} as const satisfies CommandSpec;

export const PROFILE_USE = {
  path: 'profile use',
  summary: 'switch to a profile',
  arguments: [
    [
      '<name>',
      'the name of a profile, or local for the embedded service',
      { completes: 'profiles' },
    ],
  ],
  examples: ['profile use work', 'profile use local       # the embedded service'],
} as const satisfies CommandSpec;

export const PROFILE_ADD = {
  path: 'profile add',
  summary: 'add a profile, or change its base URL',
  arguments: [['<name>', 'the name of the profile']],
  examples: ['profile add work --base-url https://prompts.example.com/v1', 'login --profile work'],
} as const satisfies CommandSpec;

export const PROFILE_REMOVE = {
  path: 'profile remove',
  summary: 'remove a profile and its key',
  arguments: [['<name>', 'the name of the profile', { completes: 'profiles' }]],
  examples: ['profile remove work'],
} as const satisfies CommandSpec;
