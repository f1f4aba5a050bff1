import type { CommandSpec } from '../../core/command-spec.ts';

export const DOCTOR = {
  path: 'doctor',
  summary: 'check configuration, reachability, key, cache and terminal',
  examples: ['doctor', "doctor --profile work --query 'checks[?!ok].detail'"],
  notes: `The exit code is that of the first check that failed: 2 configuration, 1 reachability, 3 key.
Piped, a line is: check; ok, failed or skipped; what was found.`,
} as const satisfies CommandSpec;
