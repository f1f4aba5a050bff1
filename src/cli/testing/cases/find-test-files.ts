import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../../files/error-utils.ts';
import { notFoundError, usageError } from '../../errors.ts';

const SUFFIXES = ['.test.yaml', '.test.yml'];
const FOREIGN = /\.prompt\.ya?ml$/u;
const NEVER_ENTERED = new Set(['.git', 'node_modules']);

/** Whether a prompt file of another form, found in a directory, has tests of its own. */
export type HasTests = (file: string) => Promise<boolean>;

/**
 * The test files among files and below directories, in order, each once: `*.test.yaml`, and prompt files that have tests
 * of their own.
 *
 * @throws {CliError} USAGE_ERROR for a path that is not there or not a test file; NOT_FOUND_ERROR where there is none
 */
export async function findTestFiles(
  paths: readonly string[],
  cwd: string,
  hasTests: HasTests,
): Promise<string[]> {
  const found = new Set<string>();
  for (const given of paths.length === 0 ? ['.'] : paths) {
    for (const file of await below(path.resolve(cwd, given), given, hasTests)) {
      found.add(file);
    }
  }
  if (found.size === 0) {
    throw notFoundError(
      `there is no test file (*.test.yaml) in ${paths.length === 0 ? 'this directory' : paths.join(', ')}`,
      'promptrun prompts new <file> writes a prompt file with its test file.',
    );
  }
  return [...found];
}

async function below(place: string, given: string, hasTests: HasTests): Promise<string[]> {
  const stats = await stat(place).catch((error: unknown) => {
    throw usageError(
      codeOf(error) === 'ENOENT'
        ? `there is no file ${given}`
        : `${given} can't be read (${codeOf(error) ?? ''})`,
    );
  });
  if (stats.isDirectory()) {
    return inDirectory(place, hasTests);
  }
  if (given.endsWith('.prompt')) {
    const testFile = (name: string): string => name.replace(/\.prompt$/u, '.test.yaml');
    return below(testFile(place), testFile(given), hasTests);
  }
  if (!stats.isFile()) throw usageError(`${given} is not a regular file`);
  return [place];
}

async function inDirectory(directory: string, hasTests: HasTests): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const place = path.join(directory, entry.name);
    if (entry.isDirectory() && !NEVER_ENTERED.has(entry.name)) {
      found.push(...(await inDirectory(place, hasTests)));
    } else if (entry.isFile() && isTestFile(entry.name)) {
      found.push(place);
    } else if (entry.isFile() && FOREIGN.test(entry.name)) {
      const own = SUFFIXES.map(suffix => entry.name.replace(FOREIGN, suffix));
      const isCovered = entries.some(({ name }) => own.includes(name));
      if (!isCovered && (await hasTests(place))) found.push(place);
    }
  }
  return found;
}

export function isTestFile(name: string): boolean {
  return SUFFIXES.some(suffix => name.endsWith(suffix));
}
