import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { ResumableKind } from '../../jobs/resume-journal.ts';
import type { StoredFolder } from '../../settings/stored-items.ts';

/** The names of the files and folders that promptrun writes into a folder, recursively. */
export interface OwnFolder {
  readonly files: RegExp;
  readonly folders?: Readonly<Record<string, OwnFolder>>;
  /** The names of folders that are promptrun's own, with everything in them. */
  readonly wholeFolders?: RegExp;
}

/** The content of a folder and of the folders in it. */
export interface FolderContent {
  /** The files that promptrun wrote. */
  readonly ownFiles: readonly string[];
  /** Folders that are empty once promptrun's files are removed, innermost first. */
  readonly folders: readonly string[];
  readonly otherFiles: readonly string[];
}

/** Matches the name of a file that is still being written. */
const PART_FILE_PATTERN = String.raw`\.promptrun-[0-9a-f]{12}\.part`;
const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const ANY_NAME = /^/u;

/** A folder with everything in it. */
const WHOLE_FOLDER: OwnFolder = { files: ANY_NAME, wholeFolders: ANY_NAME };

/** The folder of settings and caches. */
const CONFIG_FOLDER: OwnFolder = {
  files: new RegExp(
    String.raw`^(?:(?:config|credentials|resources|prompts)\.json(?:\.lock)?|${PART_FILE_PATTERN})$`,
    'u',
  ),
};

/** A folder of the journals from which commands resume their work. */
const RESUME_FOLDER: OwnFolder = {
  files: new RegExp(
    String.raw`^(?:[\w.-]+\.jsonl(?:\.lock)?|[\w.-]+\.lock|${PART_FILE_PATTERN})$`,
    'u',
  ),
};

const STATE_FOLDER: OwnFolder = {
  files: new RegExp(
    String.raw`^(?:journal(?:-[\w-]+)?\.jsonl(?:\.lock)?|batch-[\w-]+\.jsonl\.journal(?:\.lock)?|${PART_FILE_PATTERN})$`,
    'u',
  ),
  folders: {
    tests: RESUME_FOLDER,
    comparisons: RESUME_FOLDER,
    judges: RESUME_FOLDER,
  } satisfies Record<ResumableKind, OwnFolder>,
};

/** The folder of the local service. */
const DATA_FOLDER: OwnFolder = {
  files: new RegExp(
    String.raw`^(?:promptrun(?:-aside-[\w-]+)?\.db(?:[.-][\w.-]+)?|${PART_FILE_PATTERN})$`,
    'u',
  ),
  folders: {
    media: {
      files: new RegExp(String.raw`^(?:${UUID_PATTERN}(?:-\d+)?\.\w+|${PART_FILE_PATTERN})$`, 'u'),
    },
    inputs: {
      files: new RegExp(`^${PART_FILE_PATTERN}$`, 'u'),
      wholeFolders: new RegExp(`^${UUID_PATTERN}$`, 'u'),
    },
    workers: { files: /\.lock(?:-journal)?$/u },
    programs: { files: new RegExp(String.raw`^${UUID_PATTERN}\.json(?:\.lock)?$`, 'u') },
    'unstored-runs': { files: new RegExp(`^(?:${UUID_PATTERN}|${PART_FILE_PATTERN})$`, 'u') },
  },
};

/**
 * The folder that the single executable unpacks into. Each of its folders is named by the digest of
 * its content, as in `.9f86d081884c7d65-a1b2`.
 */
const CACHE_FOLDER: OwnFolder = {
  files: new RegExp(`^${PART_FILE_PATTERN}$`, 'u'),
  wholeFolders: /^\.?[0-9a-f]{16,128}(?:[.-][\w.-]+)?$/u,
};

export const OWN_FOLDERS: Readonly<Record<StoredFolder['name'], OwnFolder>> = {
  config: CONFIG_FOLDER,
  state: STATE_FOLDER,
  data: DATA_FOLDER,
  cache: CACHE_FOLDER,
};

/** Lists a folder without following links; empty if it is missing or itself a link. */
export function listOwnFolder(
  folder: string,
  { files, folders = {}, wholeFolders }: OwnFolder,
): FolderContent {
  const content = { ownFiles: [] as string[], folders: [] as string[], otherFiles: [] as string[] };
  if (!isFolder(folder)) return content;

  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted(compareNames)) {
    const entryPath = path.join(folder, entry.name);
    const knownFolder = Object.hasOwn(folders, entry.name) ? folders[entry.name] : undefined;

    const ownFolder =
      knownFolder ?? (wholeFolders?.test(entry.name) === true ? WHOLE_FOLDER : undefined);
    if (entry.isFile() && files.test(entry.name)) {
      content.ownFiles.push(entryPath);
    } else if (entry.isDirectory() && ownFolder !== undefined) {
      const innerContent = listOwnFolder(entryPath, ownFolder);
      content.ownFiles.push(...innerContent.ownFiles);
      content.folders.push(...innerContent.folders);
      content.otherFiles.push(...innerContent.otherFiles);
    } else {
      content.otherFiles.push(entryPath);
    }
  }

  if (content.otherFiles.length === 0) content.folders.push(folder);

  return content;
}

function compareNames(one: Dirent, other: Dirent): number {
  return one.name < other.name ? -1 : 1;
}

function isFolder(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
