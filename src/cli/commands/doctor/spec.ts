import type { CommandSpec } from '../../core/command-spec.ts';

export const DOCTOR = {
  path: 'doctor',
  summary: 'check configuration, reachability, key, cache and terminal',
  examples: ['doctor', 'doctor --profile work --query "checks[?! ok].detail"'],
  notes: `The exit code is that of the first failed check: 2 configuration, 1 reachability, 3 key.
Columns when piped: check, result (ok, failed or skipped), detail.`,
} as const satisfies CommandSpec;
