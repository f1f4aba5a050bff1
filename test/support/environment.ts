import path from 'node:path';

/** Commands share what they unpack, as those of one user do; each of them checks it. */
const CACHE = path.resolve(import.meta.dirname, '../../node_modules/.cache/unpacked');

/** Returns the environment of a command that must know nothing of its machine. */
export function buildCommandEnvironment(
  home: string,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { ...buildEnvironmentWithin(home), ...added };
}

/** Returns the environment variables that keep a command within a directory. */
export function buildEnvironmentWithin(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    PROMPTRUN_CONFIG_DIR: path.join(home, 'config'),
    PROMPTRUN_DATA_DIR: path.join(home, 'data'),
    PROMPTRUN_STATE_DIR: path.join(home, 'state'),
    XDG_CACHE_HOME: CACHE,
  };
}
