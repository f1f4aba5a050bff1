import { existsSync, lstatSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  readInstalledText,
  resolveInstalledFile,
} from '../../../files/installed/installed-file.ts';
import { isSingleFile, resolveExecutablePath } from '../../../files/installed/single-file.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { pluralize } from '../../core/pluralize.ts';
import { present } from '../../outputs/present.ts';
import { listStoredFolders } from '../../settings/stored-items.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { detectShell, quoteIfNeeded, type Shell } from '../../terminal/shell-words.ts';
import { formatPlainRows } from '../../terminal/table.ts';
import { type FolderContent, listOwnFolder, OWN_FOLDERS } from './own-folders.ts';
import type { UNINSTALL } from './spec.ts';
import {
  findFishScriptPath,
  listStartupFiles,
  removeOwnLines,
  type StartupFile,
} from './startup-files.ts';

/** A thing to remove, as the list shows it. */
interface RemovableItem {
  readonly place: string;
  readonly holds: string;
  remove(): void | Promise<void>;
}

interface RemovalPlan {
  readonly items: readonly RemovableItem[];
  /** The things that stay, with the reason. */
  readonly leftovers: readonly string[];
}

/** Lists everything that promptrun keeps on this machine, and removes it after a confirmation. */
export async function uninstall(
  ctx: Context,
  { yes = false, dryRun = false }: FlagsOf<typeof UNINSTALL.flags>,
): Promise<void> {
  const plan = planRemoval(ctx);
  await presentPlan(ctx, plan);

  if (!dryRun && !yes && !ctx.isInteractive) {
    throw usageError('uninstall asks before it removes anything', 'Confirm it with --yes.');
  }

  if (!dryRun && plan.items.length > 0) {
    await refuseWhileInUse(ctx);
    if (!yes && !(await confirmUninstall(ctx))) {
      ctx.io.note('Nothing was removed.');
      return;
    }
    await removeItems(plan.items);
    ctx.io.note(`Removed ${pluralize(plan.items.length, 'item')}.`);
  }

  for (const line of plan.leftovers) ctx.io.note(`left: ${toOneLine(line)}`);
  ctx.io.note(`To remove the package itself: ${buildPackageRemoval(detectShell(ctx.env))}`);
}

async function presentPlan(ctx: Context, { items, leftovers }: RemovalPlan): Promise<void> {
  const shownItems = items.map(({ place, holds }) => ({ place, holds }));
  const value = { items: shownItems, left: leftovers };
  const emptyMessage = 'promptrun keeps nothing on this machine.\n';
  await present(ctx, value, {
    // A table would cut long paths, and the user has to see what to confirm.
    terminal: () => {
      if (items.length === 0) return emptyMessage;
      return items
        .map(({ place, holds }) => `${toOneLine(place)}\n  ${toOneLine(holds)}\n`)
        .join('');
    },
    plain: () => formatPlainRows(items.map(({ place, holds }) => [place, holds])),
    paged: true,
  });
}

/** Refuses to remove the store while a `serve` or a run uses it. */
async function refuseWhileInUse({ dataDir, local }: Context): Promise<void> {
  if (!existsSync(path.join(dataDir, 'workers')) || !(await local.isInUse(dataDir))) return;
  throw usageError(
    `a serve or a run is using ${dataDir}; nothing was removed`,
    'Stop it, or wait until it ends, and run uninstall again.',
  );
}

/** Asks for a confirmation, which must be the whole word. */
async function confirmUninstall(ctx: Context): Promise<boolean> {
  const prompter = await ctx.prompter();
  const message = 'Remove all of this? Type yes to continue';
  return (await prompter.text({ message, lines: 'refused' }, ctx.signal)).trim() === 'yes';
}

async function removeItems(items: readonly RemovableItem[]): Promise<void> {
  const faults: string[] = [];
  for (const { place, remove } of items) {
    try {
      await remove();
    } catch (error) {
      faults.push(`${place}: ${getErrorMessage(error)}`);
    }
  }

  if (faults.length === 0) return;
  throw new CliError(`some of it could not be removed: ${faults.join('; ')}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: ['Everything else was removed. Run it again for the rest.'],
  });
}

function planRemoval(ctx: Context): RemovalPlan {
  const { env } = ctx;
  const startupFiles = listStartupFiles(env);
  const folders = listStoredFolders(ctx).map(({ name, path: folder, holds }) => ({
    folder,
    holds,
    content: listOwnFolder(folder, OWN_FOLDERS[name]),
  }));

  return {
    items: [
      ...listKeychainItems(ctx),
      ...startupFiles.filter(({ ownLines }) => ownLines.length > 0).map(createStartupLineItem),
      ...listFishItems(env),
      ...folders.flatMap(folder => listFolderItems(ctx, folder)),
    ],
    leftovers: [
      ...folders.flatMap(({ folder, content }) => listLeftovers(folder, content)),
      ...startupFiles.flatMap(({ path: file, otherLines }) =>
        isFishScript(file)
          ? []
          : otherLines.map(({ line, text }) => `${file}:${line}: ${text.trim()}`),
      ),
    ],
  };
}

/** Returns the keys in the system's keychain, which would outlive the file that lists them. */
function listKeychainItems({ settings: { credentials } }: Context): RemovableItem[] {
  try {
    return credentials
      .listProfiles()
      .filter(profile => credentials.find(profile)?.keychain === true)
      .map(profile => ({
        place: `the system's keychain`,
        holds: `the key of the profile ${profile}`,
        remove: async () => void (await credentials.forget(profile)),
      }));
  } catch {
    // A damaged file lists no keys; it is removed anyway.
    return [];
  }
}

function createStartupLineItem({ path: file, ownLines }: StartupFile): RemovableItem {
  return {
    place: `${file}:${ownLines.join(',')}`,
    holds: 'the line that installs completion',
    remove: () => removeOwnLines(file),
  };
}

/** Returns the script for fish that earlier versions wrote to a file. */
function listFishItems(env: Context['env']): RemovableItem[] {
  const file = findFishScriptPath(env);
  if (file === undefined || !isFishScript(file)) return [];
  return [
    { place: file, holds: 'completion for fish', remove: () => rmSync(file, { force: true }) },
  ];
}

function isFishScript(file: string): boolean {
  if (
    path.basename(file) !== 'promptrun.fish' ||
    lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true
  ) {
    return false;
  }
  const script = readInstalledText('completions/promptrun.fish');
  // Earlier versions wrote it without -k.
  return [script, script.replace(' -k', '')].includes(readFileSync(file, 'utf8'));
}

interface ListedFolder {
  readonly folder: string;
  readonly content: FolderContent;
  readonly holds: string;
}

/**
 * Returns the items of a folder: its files, then its folders. The folder itself stays if the user
 * named it.
 */
function listFolderItems(
  { env }: Context,
  { folder, content, holds }: ListedFolder,
): RemovableItem[] {
  const namedFolders = [
    env['PROMPTRUN_CONFIG_DIR'],
    env['PROMPTRUN_STATE_DIR'],
    env['PROMPTRUN_DATA_DIR'],
  ];
  const isNamed = namedFolders.some(name => name && path.resolve(name) === folder);

  const removableFolders = isNamed
    ? content.folders.filter(candidate => candidate !== folder)
    : content.folders;
  const removeFolders = (): void => {
    for (const candidate of removableFolders) removeIfEmpty(candidate);
    // On Windows, the program's folders are inside one more folder.
    if (process.platform === 'win32' && !isNamed) removeIfEmpty(path.dirname(folder));
  };

  const isEmpty = content.ownFiles.length === 0 && removableFolders.includes(folder);
  if (isEmpty) return [{ place: folder, holds: 'nothing: it is empty', remove: removeFolders }];

  return [...groupByEntry(folder, content.ownFiles)].map(([place, files]) => ({
    place,
    holds:
      files.length === 1 && files[0] === place
        ? holds
        : `${holds} (${pluralize(files.length, 'file')})`,
    remove: () => {
      for (const file of files) rmSync(file, { force: true });
      removeFolders();
    },
  }));
}

/** Groups files by the entry of the folder that they are, or are in. */
function groupByEntry(folder: string, files: readonly string[]): Map<string, string[]> {
  const filesByEntry = new Map<string, string[]>();
  for (const file of files) {
    const [entry = ''] = path.relative(folder, file).split(path.sep);
    const entryPath = path.join(folder, entry);
    filesByEntry.set(entryPath, [...(filesByEntry.get(entryPath) ?? []), file]);
  }
  return filesByEntry;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty.
  }
}

function listLeftovers(folder: string, { otherFiles }: FolderContent): string[] {
  const isLink = lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink) return [`${folder}: it is a link`];
  return otherFiles.map(file => `${file}: promptrun did not write it, or you may have edited it`);
}

/** Returns the command that removes the package, by the way of its installation. */
function buildPackageRemoval(shell: Shell): string {
  if (isSingleFile()) return buildFileRemoval(resolveExecutablePath(), shell);
  const modulesFolder = path.dirname(path.dirname(resolveInstalledFile('package.json')));
  const projectFolder = path.dirname(modulesFolder);
  // npm's global folder has no package.json beside its node_modules.
  const isInProject =
    path.basename(modulesFolder) === 'node_modules' &&
    existsSync(path.join(projectFolder, 'package.json'));
  return `npm uninstall ${isInProject ? `--prefix ${quoteIfNeeded(projectFolder, shell)}` : '--global'} promptrun`;
}

/** Returns the command that removes a file, for the shell that reads it. */
export function buildFileRemoval(file: string, shell: Shell): string {
  const windowsCommand = shell === 'cmd' ? 'del' : 'Remove-Item';
  return `${shell === 'posix' ? 'rm' : windowsCommand} ${quoteIfNeeded(file, shell)}`;
}
