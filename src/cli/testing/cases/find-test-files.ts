import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../../files/error-utils.ts';
import { notFoundError, usageError } from '../../errors.ts';

const SUFFIXES = ['.test.yaml', '.test.yml'];
const NEVER_ENTERED = new Set(['node_modules']);

/**
 * The test files among files and below directories, in order, each once.
 *
 * @throws {CliError} USAGE_ERROR for a path that is not there or not a test file; NOT_FOUND_ERROR where there is none
 */
export async function findTestFiles(paths: readonly string[], cwd: string): Promise<string[]> {
  const found = new Set<string>();
  for (const given of paths.length === 0 ? ['.'] : paths) {
    for (const file of await below(path.resolve(cwd, given), given)) {
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

async function below(place: string, given: string): Promise<string[]> {
  const stats = await stat(place).catch((error: unknown) => {
    throw usageError(
      codeOf(error) === 'ENOENT'
        ? `there is no file ${given}`
        : `${given} can't be read (${codeOf(error) ?? ''})`,
    );
  });
  if (stats.isDirectory()) {
    return inDirectory(place);
  }
  if (given.endsWith('.prompt')) {
    return below(place.replace(/\.prompt$/u, '.test.yaml'), given.replace(/\.prompt$/u, '.test.yaml'));
  }
  if (!isTestFile(place)) {
    throw usageError(`${given} is not a test file: its name must end in .test.yaml`);
  }
  return [place];
}

async function inDirectory(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const place = path.join(directory, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.') && !NEVER_ENTERED.has(entry.name)) {
      found.push(...(await inDirectory(place)));
    } else if (entry.isFile() && isTestFile(entry.name)) {
      found.push(place);
    }
  }
  return found;
}

function isTestFile(name: string): boolean {
  return SUFFIXES.some(suffix => name.endsWith(suffix));
}
