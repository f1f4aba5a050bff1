import path from 'node:path';
import { findUserFolder } from '../../files/user-folders.ts';
import type { Env } from '../../utils/env.ts';
import { type CliError, configError } from '../core/errors.ts';

/** The directories of promptrun on this machine; each is created with the first file in it. */
export interface Directories {
  /** Profiles, keys, settings and caches. */
  readonly config: string;
  /** The store of the local service. */
  readonly data: string;
  /** The journal. */
  readonly state: string;
}

/** The home of accounts without one, as Debian writes it. */
const NO_HOME = '/nonexistent';

interface DirectoryOptions {
  readonly platform?: NodeJS.Platform;
  /** False for a command that keeps nothing; default true. */
  readonly needsHome?: boolean;
}

/**
 * Returns the directories of the platform, or those that the environment names.
 *
 * @throws {CliError} CONFIG_ERROR if the user has no home directory, and the environment doesn't
 * name every directory
 */
export function resolveDirectories(
  env: Env,
  cwd: string,
  { platform = process.platform, needsHome = true }: DirectoryOptions = {},
): Directories {
  const resolveDirectory = (kind: keyof Directories): string => {
    const directory = env[`PROMPTRUN_${kind.toUpperCase()}_DIR`];
    if (directory) return path.resolve(cwd, directory);

    const userFolder = findUserFolder(kind, env, platform);
    if (userFolder === undefined && needsHome) throw noHomeError();
    return userFolder ?? NO_HOME;
  };
  return {
    config: resolveDirectory('config'),
    data: resolveDirectory('data'),
    state: resolveDirectory('state'),
  };
}

function noHomeError(): CliError {
  return configError(
    'this user has no home directory',
    'Set PROMPTRUN_CONFIG_DIR, PROMPTRUN_DATA_DIR and PROMPTRUN_STATE_DIR to directories.',
  );
}
