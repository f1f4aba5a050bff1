import type { CommandSpec } from '../../core/command-spec.ts';

export const ACCOUNT = {
  path: 'account',
  summary: 'who the key belongs to, credits left',
  examples: ['account', 'account --query credits'],
} as const satisfies CommandSpec;
