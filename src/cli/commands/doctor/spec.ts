import type { CommandSpec } from '../../core/command-spec.ts';

export const DOCTOR = {
  path: 'doctor',
  summary: 'check configuration, reachability, key, cache, models and terminal',
  examples: ['doctor', 'doctor --profile work --query "checks[?! ok].detail"'],
  notes: `The models and providers are those of the embedded service.
The exit code is that of the first failed check: 2 configuration or models, 1 reachability or a \
provider, 3 a key.
Columns when piped: check, result (ok, failed or skipped), detail.`,
} as const satisfies CommandSpec;
