import type { CommandSpec } from '../../core/command-spec.ts';

export const PROFILE = {
  path: 'profile',
  aliases: ['profiles'],
  summary: 'named sets of base URL and key',
  examples: ['profile add work --base-url https://prompts.example.com/v1', 'profile use work'],
} as const satisfies CommandSpec;

export const PROFILE_LIST = {
  path: 'profile list',
  summary: 'the profiles there are',
  examples: ['profile list', "profile list --query '[?active].name | [0]'"],
  notes:
    'Piped, a line is: name, base URL, where the key is kept (file, keychain or none), active or nothing.',
} as const satisfies CommandSpec;

export const PROFILE_USE = {
  path: 'profile use',
  summary: 'make a profile the active one',
  arguments: [['<name>', 'a profile, or local', 'profiles']],
  examples: ['profile use work', 'profile use local       # the built-in service'],
} as const satisfies CommandSpec;

export const PROFILE_ADD = {
  path: 'profile add',
  summary: 'add a profile, or change where one leads',
  arguments: [['<name>', 'what to call it']],
  examples: ['profile add work --base-url https://prompts.example.com/v1', 'login --profile work'],
} as const satisfies CommandSpec;

export const PROFILE_REMOVE = {
  path: 'profile remove',
  summary: 'forget a profile and its key',
  arguments: [['<name>', 'the profile', 'profiles']],
  examples: ['profile remove work'],
} as const satisfies CommandSpec;
