import { existsSync, realpathSync, type Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { explainExclusion } from '../../../files/named-file.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { formatSuggestion } from '../../../utils/nearest-name.ts';
import type { Context } from '../../context.ts';
import { type CliError, notFoundError, usageError } from '../../core/errors.ts';
import { hasForeignTests } from './read-foreign-tests.ts';
import {
  FOREIGN_PROMPT,
  isPromptfooFile,
  isTestFile,
  listTestFileNames,
  TEST_FILE_SUFFIXES,
} from './test-file-names.ts';

const SKIPPED_DIRECTORIES = new Set(['.git', 'node_modules']);

/** The test files that a command line names, and those in the directories that it names. */
export interface FoundTests {
  /** Absolute paths without duplicates, in the order of the command line; a directory's sorted. */
  readonly paths: readonly string[];
  /** The absolute paths of the files that the command line names. */
  readonly namedPaths: ReadonlySet<string>;
  /** The absolute paths of the directories that were searched. */
  readonly directories: readonly string[];
}

/**
 * Finds the test files among files and below directories: `*.test.yaml`, configurations of
 * promptfoo, and prompt files that have their own tests.
 *
 * @param paths files and directories; the working directory if empty
 * @param onSkipped called with a line for each skipped file: a link out of its directory, a pipe or a
 * device
 * @throws {CliError} USAGE_ERROR if a path does not exist or is not a test file; NOT_FOUND_ERROR if
 * there is no test file
 */
export async function findTestFiles(
  ctx: Context,
  paths: readonly string[],
  onSkipped: (line: string) => void,
): Promise<FoundTests> {
  const filePaths = new Set<string>();
  const namedPaths = new Set<string>();
  const directories: string[] = [];
  for (const name of paths.length === 0 ? ['.'] : paths) {
    const { absolutePath, isDirectory } = await findNamedPath(ctx, name);
    if (isDirectory) {
      directories.push(absolutePath);
      for (const filePath of await findTestFilesBelow(ctx, absolutePath, absolutePath, onSkipped)) {
        filePaths.add(filePath);
      }
    } else {
      namedPaths.add(absolutePath);
      filePaths.add(absolutePath);
    }
  }

  if (filePaths.size > 0) return { paths: [...filePaths], namedPaths, directories };

  throw notFoundError(
    `no test file (*.test.yaml) in ${paths.length === 0 ? 'this directory' : paths.join(', ')}`,
    'promptrun prompts new <file> writes a prompt file with its test file.',
  );
}

/** Finds a path that the command line names, or the test file next to it. */
async function findNamedPath(
  ctx: Context,
  name: string,
): Promise<{ readonly absolutePath: string; readonly isDirectory: boolean }> {
  if (name.trim() === '') throw usageError('the path of a test file or directory is empty');

  const absolutePath = path.resolve(ctx.cwd, name);
  const stats = await stat(absolutePath).catch((error: unknown) => {
    throw unreadablePathError(ctx, name, error);
  });
  if (stats.isDirectory()) {
    return { absolutePath: toPathInside(ctx.cwd, absolutePath, stats), isDirectory: true };
  }

  const testFileBeside = listTestFileNames(name).find(file =>
    existsSync(path.resolve(ctx.cwd, file)),
  );
  if (testFileBeside !== undefined) return findNamedPath(ctx, testFileBeside);

  if (name.endsWith('.prompt')) {
    throw usageError(
      `${name} has no tests: ${path.basename(listTestFileNames(name)[0] ?? '')} does not exist next to it`,
      'promptrun help tests-and-recordings shows how to write them.',
    );
  }

  if (!stats.isFile()) throw usageError(`${name} is not a regular file`);
  return { absolutePath: toPathInside(ctx.cwd, absolutePath, stats), isDirectory: false };
}

function unreadablePathError({ cwd }: Context, name: string, error: unknown): CliError {
  const code = getErrorCode(error) ?? '';
  if (code !== 'ENOENT') return usageError(`${name} can't be read (${code})`);
  const likelyName = ['.prompt', '.test.yaml']
    .map(ending => name + ending)
    .find(file => existsSync(path.resolve(cwd, file)));
  return usageError(`${name} does not exist${formatSuggestion(likelyName)}`);
}

/**
 * Returns a path that begins with the working directory if the file or directory is really in it.
 * On macOS, /tmp is a link to /private/tmp, which is what the system calls the working directory.
 */
function toPathInside(cwd: string, absolutePath: string, stats: Stats): string {
  if (!path.relative(cwd, absolutePath).startsWith('..')) return absolutePath;
  // A file that is a link keeps its own name.
  const realPath = stats.isDirectory()
    ? realpathSync.native(absolutePath)
    : path.join(realpathSync.native(path.dirname(absolutePath)), path.basename(absolutePath));
  const relativePath = path.relative(realpathSync.native(cwd), realPath);
  return relativePath.startsWith('..') || path.isAbsolute(relativePath)
    ? absolutePath
    : path.join(cwd, relativePath);
}

/**
 * Returns the test files below a directory, sorted.
 *
 * @param top the directory that links may not lead out of
 */
async function findTestFilesBelow(
  ctx: Context,
  top: string,
  directory: string,
  onSkipped: (line: string) => void,
): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  const files: string[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const absolutePath = path.join(directory, entry.name);
    if (entry.isDirectory() && !SKIPPED_DIRECTORIES.has(entry.name)) {
      files.push(...(await findTestFilesBelow(ctx, top, absolutePath, onSkipped)));
      continue;
    }

    const hasTestName = isTestFile(entry.name) || isPromptfooFile(entry.name);
    if (!hasTestName && !FOREIGN_PROMPT.test(entry.name)) continue;

    const reason = entry.isFile() ? undefined : explainExclusion(absolutePath, top);
    if (reason !== undefined) {
      onSkipped(`${path.relative(ctx.cwd, absolutePath)} is left out: ${reason}`);
      continue;
    }

    const isTested =
      hasTestName ||
      (!hasTestFile(entry.name, names) && (await hasForeignTests(ctx, absolutePath)));
    if (isTested) files.push(absolutePath);
  }

  return files;
}

/** Returns true if a test file for a foreign prompt file lies next to it. */
function hasTestFile(foreignPrompt: string, names: ReadonlySet<string>): boolean {
  return TEST_FILE_SUFFIXES.some(suffix =>
    names.has(foreignPrompt.replace(FOREIGN_PROMPT, suffix)),
  );
}
