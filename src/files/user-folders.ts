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
  /** The XDG base directory. */
  readonly linux: VariableFolder;
  /** The folder in the home directory. */
  readonly mac: string;
  readonly windows: VariableFolder & { readonly subfolder: string };
}

/** A folder that a variable names, with its default in the home directory. */
interface VariableFolder {
  readonly variable: string;
  readonly inHome: string;
}

const PLACES = {
  config: {
    linux: { variable: 'XDG_CONFIG_HOME', inHome: '.config' },
    mac: 'Library/Preferences',
    windows: { variable: 'APPDATA', inHome: 'AppData/Roaming', subfolder: 'Config' },
  },
  data: {
    linux: { variable: 'XDG_DATA_HOME', inHome: '.local/share' },
    mac: 'Library/Application Support',
    windows: { variable: 'LOCALAPPDATA', inHome: 'AppData/Local', subfolder: 'Data' },
  },
  state: {
    linux: { variable: 'XDG_STATE_HOME', inHome: '.local/state' },
    mac: 'Library/Logs',
    windows: { variable: 'LOCALAPPDATA', inHome: 'AppData/Local', subfolder: 'State' },
  },
  cache: {
    linux: { variable: 'XDG_CACHE_HOME', inHome: '.cache' },
    mac: 'Library/Caches',
    windows: { variable: 'LOCALAPPDATA', inHome: 'AppData/Local', subfolder: 'Cache' },
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
  const { variable, inHome } = platform === 'win32' ? windows : linux;
  const folder = readFolderVariable(env, variable, platform) ?? toHomePath(inHome);
  return folder && path.join(folder, 'promptrun', platform === 'win32' ? windows.subfolder : '');
}

/**
 * Returns the folder that a variable names. Ignores a relative one, as the specification of the XDG
 * folders requires.
 */
function readFolderVariable(
  env: Env,
  variable: string,
  platform: NodeJS.Platform,
): string | undefined {
  const { isAbsolute } = platform === 'win32' ? path.win32 : path;
  const folder = env[variable];
  return folder && isAbsolute(folder) ? folder : undefined;
}
