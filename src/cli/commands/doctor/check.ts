import type { ExitCode } from '../../exit-codes.ts';

/** What one check found. */
export interface Check {
  readonly name: 'configuration' | 'reachability' | 'key' | 'cache' | 'terminal';
  /** null where it could not be checked, since an earlier check failed. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** What to do about it. */
  readonly hints: readonly string[];
  /** What a failure makes the exit code. */
  readonly exitCode?: ExitCode;
}

export function passed(name: Check['name'], detail: string): Check {
  return { name, ok: true, detail, hints: [] };
}

export function skipped(name: Check['name'], detail: string): Check {
  return { name, ok: null, detail, hints: [] };
}
