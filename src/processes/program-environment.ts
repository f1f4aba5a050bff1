import type { Env } from '../utils/env.ts';

/**
 * Returns an environment without keys and variables of promptrun. Ignores the case of names, like
 * Windows.
 */
export function withoutKeys(env: Env, keyVariables: Iterable<string>): Record<string, string> {
  const keys = new Set([...keyVariables].map(name => name.toUpperCase()));
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const upperName = name.toUpperCase();
      const isKept =
        value !== undefined && !upperName.startsWith('PROMPTRUN_') && !keys.has(upperName);
      return isKept ? [[name, value] as const] : [];
    }),
  );
}

/**
 * Returns an environment variable. Ignores case on Windows, where PATH is usually called `Path`.
 */
export function readVariable(
  env: Env,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (platform !== 'win32') return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
