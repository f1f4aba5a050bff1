import path from 'node:path';

/** Returns the environment of a command that must know nothing of its machine. */
export function commandEnvironment(
  home: string,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { ...environmentWithin(home), ...added };
}

/** Returns the environment variables that keep a command within a directory. */
export function environmentWithin(home: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    PROMPTRUN_CONFIG_DIR: path.join(home, 'config'),
    PROMPTRUN_DATA_DIR: path.join(home, 'data'),
    PROMPTRUN_STATE_DIR: path.join(home, 'state'),
  };
}
