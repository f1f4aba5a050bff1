import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** What promptrun writes into a folder: files and folders by their names, and what it writes into those. */
export interface OwnFolder {
  readonly files: RegExp;
  readonly folders?: Readonly<Record<string, OwnFolder>>;
  /** Folders of these names are its own with all that they hold. */
  readonly whole?: RegExp;
}

/** Files that promptrun wrote, innermost folders first, and what else lies beside them. */
export interface FolderContent {
  readonly own: readonly string[];
  /** Folders that are empty once `own` is gone, innermost first. */
  readonly folders: readonly string[];
  readonly others: readonly string[];
}

const PART = String.raw`\.promptrun-[0-9a-f]{12}\.part`;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The folder of settings and caches. */
export const CONFIG_FOLDER: OwnFolder = {
  files: new RegExp(String.raw`^(?:(?:config|credentials|resources|prompts)\.json(?:\.lock)?|${PART})$`, 'u'),
};

/** The folder of the journals. */
export const STATE_FOLDER: OwnFolder = {
  files: new RegExp(
    String.raw`^(?:journal(?:-[\w-]+)?\.jsonl(?:\.lock)?|batch-[\w-]+\.jsonl\.journal(?:\.lock)?|${PART})$`,
    'u',
  ),
  folders: {
    tests: { files: new RegExp(String.raw`^(?:[\w.-]+\.jsonl(?:\.lock)?|[\w.-]+\.lock|${PART})$`, 'u') },
  },
};

/** The folder of the local service. */
export const DATA_FOLDER: OwnFolder = {
  files: new RegExp(String.raw`^(?:promptrun(?:-aside-[\w-]+)?\.db(?:[.-][\w.-]+)?|${PART})$`, 'u'),
  folders: {
    media: { files: new RegExp(String.raw`^(?:${UUID}(?:-\d+)?\.\w+|${PART})$`, 'u') },
    inputs: { files: new RegExp(`^${PART}$`, 'u'), whole: new RegExp(`^${UUID}$`, 'u') },
    workers: { files: /\.lock$/u },
    programs: { files: new RegExp(String.raw`^${UUID}\.json(?:\.lock)?$`, 'u') },
  },
};

/** The folder of what the single executable unpacks, under the digest of its content. */
export const CACHE_FOLDER: OwnFolder = {
  files: new RegExp(`^${PART}$`, 'u'),
  whole: /^\.?[0-9a-f]{16,128}(?:[.-][\w.-]+)?$/u,
};

/** Looks through a folder without following links. Nothing, if it is not there or is a link itself. */
export function contentOf(folder: string, { files, folders = {}, whole }: OwnFolder): FolderContent {
  const content = { own: [] as string[], folders: [] as string[], others: [] as string[] };
  if (!isFolder(folder)) return content;
  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted(byName)) {
    const place = path.join(folder, entry.name);
    const below = Object.hasOwn(folders, entry.name) ? folders[entry.name] : undefined;
    if (entry.isFile() && files.test(entry.name)) {
      content.own.push(place);
    } else if (entry.isDirectory() && (below !== undefined || whole?.test(entry.name) === true)) {
      const inner = contentOf(place, below ?? { files: /(?:)/u, whole: /(?:)/u });
      content.own.push(...inner.own);
      content.folders.push(...inner.folders);
      content.others.push(...inner.others);
    } else {
      content.others.push(place);
    }
  }
  if (content.others.every(other => !other.startsWith(folder + path.sep))) content.folders.push(folder);
  return content;
}

function byName(one: Dirent, other: Dirent): number {
  return one.name < other.name ? -1 : 1;
}

function isFolder(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
