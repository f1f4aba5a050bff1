import path from 'node:path';
import { folderIn, homeDirectory } from '../../files/user-folders.ts';
import type { Env } from '../core/types.ts';
import { configError } from '../errors.ts';

/** The directories of promptrun on this machine; each is created with the first file in it. */
export interface Directories {
  /** Profiles, keys, settings and caches. */
  readonly config: string;
  /** The store of the local service. */
  readonly data: string;
  /** The journal. */
  readonly state: string;
}

interface DirectoryKind {
  /** The variable of the XDG base directory on Linux, and the default in the home directory. */
  readonly linux: readonly [variable: string, inHome: string];
  readonly mac: string;
  readonly windows: readonly [variable: string, inHome: string, folder: string];
}

const KINDS: Readonly<Record<keyof Directories, DirectoryKind>> = {
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
};

/** Returns the directories of the platform, or those that the environment names. */
export function directories(
  env: Env,
  cwd: string,
  platform: NodeJS.Platform = process.platform,
): Directories {
  const place = (kind: keyof Directories): string => {
    const directory = env[`PROMPTRUN_${kind.toUpperCase()}_DIR`];
    return directory
      ? path.resolve(cwd, directory)
      : platformDirectory(KINDS[kind], env, requiredHome(env), platform);
  };
  return { config: place('config'), data: place('data'), state: place('state') };
}

/** Returns the home directory. A user may have none, and needs none if the environment names every directory. */
function requiredHome(env: Env): string {
  const home = homeDirectory(env);
  if (home !== undefined) return home;
  throw configError(
    'this user has no home directory',
    'Name directories in PROMPTRUN_CONFIG_DIR, PROMPTRUN_DATA_DIR and PROMPTRUN_STATE_DIR.',
  );
}

function platformDirectory(kind: DirectoryKind, env: Env, home: string, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return path.join(home, kind.mac, 'promptrun');
  if (platform === 'win32') {
    const [variable, inHome, folder] = kind.windows;
    return path.join(folderIn(env, variable, platform) ?? path.join(home, inHome), 'promptrun', folder);
  }
  const [variable, inHome] = kind.linux;
  return path.join(folderIn(env, variable) ?? path.join(home, inHome), 'promptrun');
}
