import path from 'node:path';
import { listUnpackFolders } from '../../files/installed/unpacked-file.ts';
import type { Env } from '../../utils/env.ts';
import { PROMPTS_FILE_NAME } from './caches/prompt-cache.ts';
import { RESOURCES_FILE_NAME } from './caches/resource-cache.ts';
import type { Settings } from './settings.ts';

/** A place where something is kept on this machine. */
export interface StoredItem {
  readonly name: 'config' | 'credentials' | 'resources' | 'prompts' | 'journal' | 'data' | 'cache';
  readonly path: string;
  readonly holds: string;
}

interface StoredItemSources {
  readonly settings: Settings;
  readonly stateDir: string;
  readonly dataDir: string;
  readonly env: Env;
}

/** A folder that promptrun keeps things in. */
export interface StoredFolder {
  readonly name: 'config' | 'state' | 'data' | 'cache';
  readonly path: string;
  readonly holds: string;
}

const UNPACKED_PARTS = 'unpacked parts of the program';

/** Returns every folder, even if nothing is in it yet. */
export function listStoredFolders({
  settings,
  stateDir,
  dataDir,
  env,
}: StoredItemSources): StoredFolder[] {
  return [
    { name: 'config', path: settings.directory, holds: 'settings, keys and caches' },
    {
      name: 'state',
      path: stateDir,
      holds:
        'the list of runs started on this machine, and how far tests and comparisons have come',
    },
    { name: 'data', path: dataDir, holds: 'the local service: prompts, runs, media' },
    ...listUnpackFolders(env).map(
      (folder): StoredFolder => ({ name: 'cache', path: folder, holds: UNPACKED_PARTS }),
    ),
  ];
}

/** Returns every place, even if nothing is in it yet. */
export function listStoredItems({
  settings,
  stateDir,
  dataDir,
  env,
}: StoredItemSources): readonly StoredItem[] {
  const { file, credentials, directory } = settings;
  return [
    { name: 'config', path: file, holds: 'profiles, aliases and settings' },
    {
      name: 'credentials',
      path: credentials.file,
      holds: 'API keys, or that they are in the keychain',
    },
    {
      name: 'resources',
      path: path.join(directory, RESOURCES_FILE_NAME),
      holds: 'cache: models and run options',
    },
    {
      name: 'prompts',
      path: path.join(directory, PROMPTS_FILE_NAME),
      holds: 'cache: prompts that were read',
    },
    {
      name: 'journal',
      path: path.join(stateDir, 'journal.jsonl'),
      holds: 'runs started on this machine',
    },
    { name: 'data', path: dataDir, holds: 'the local service: prompts, runs, media, models.yaml' },
    { name: 'cache', path: listUnpackFolders(env)[0] ?? '', holds: UNPACKED_PARTS },
  ];
}
