import type { CommandSpec } from '../../core/command-spec.ts';

export const ACCOUNT = {
  path: 'account',
  summary: 'show who the key belongs to and how many credits are left',
  examples: ['account', 'account --query credits'],
} as const satisfies CommandSpec;
