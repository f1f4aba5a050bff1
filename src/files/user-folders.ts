import { homedir } from 'node:os';
import path from 'node:path';
import type { Env } from '../utils/env.ts';

/**
 * Returns the user's home directory; undefined if the system knows none, as for an account that has
 * no entry.
 */
export function findHomeDirectory(env: Env): string | undefined {
  try {
    return env['HOME'] || env['USERPROFILE'] || homedir();
  } catch {
    return undefined;
  }
}

/** A user's folder for one kind of files, on each platform. */
interface FolderPlaces {
  /** The variable of the XDG base directory on Linux, and the default in the home directory. */
  readonly linux: readonly [variable: string, inHome: string];
  readonly mac: string;
  readonly windows: readonly [variable: string, inHome: string, folder: string];
}

const PLACES = {
  config: {
    linux: ['XDG_CONFIG_HOME', '.config'],
    mac: 'Library/Preferences',
    windows: ['APPDATA', 'AppData/Roaming', 'Config'],
  },
  data: {
    linux: ['XDG_DATA_HOME', '.local/share'],
    mac: 'Library/Application Support',
    windows: ['LOCALAPPDATA', 'AppData/Local', 'Data'],
  },
  state: {
    linux: ['XDG_STATE_HOME', '.local/state'],
    mac: 'Library/Logs',
    windows: ['LOCALAPPDATA', 'AppData/Local', 'State'],
  },
  cache: {
    linux: ['XDG_CACHE_HOME', '.cache'],
    mac: 'Library/Caches',
    windows: ['LOCALAPPDATA', 'AppData/Local', 'Cache'],
  },
} as const satisfies Readonly<Record<string, FolderPlaces>>;

/**
 * Returns promptrun's folder for a kind of files; undefined if it would be in a home directory and
 * there is none.
 */
export function findUserFolder(
  kind: keyof typeof PLACES,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const { linux, mac, windows }: FolderPlaces = PLACES[kind];
  const home = findHomeDirectory(env);
  const toHomePath = (folder: string): string | undefined => home && path.join(home, folder);
  if (platform === 'darwin') return toHomePath(path.join(mac, 'promptrun'));
  const [variable, standard] = platform === 'win32' ? windows : linux;
  const folder = readFolderVariable(env, variable, platform) ?? toHomePath(standard);
  return folder && path.join(folder, 'promptrun', ...(platform === 'win32' ? [windows[2]] : []));
}

/**
 * Returns the folder that a variable names. Ignores a relative one, as the specification of the XDG
 * folders requires.
 */
function readFolderVariable(
  env: Env,
  variable: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const { isAbsolute } = platform === 'win32' ? path.win32 : path;
  const folder = env[variable];
  return folder && isAbsolute(folder) ? folder : undefined;
}
