import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../../files/error-utils.ts';
import type { Context } from '../../context.ts';
import { notFoundError, usageError } from '../../errors.ts';
import { hasForeignTests } from './read-foreign-tests.ts';

const SUFFIXES = ['.test.yaml', '.test.yml'];
const FOREIGN = /\.prompt\.ya?ml$/u;
const NEVER_ENTERED = new Set(['.git', 'node_modules']);

/**
 * The test files among files and below directories, in order, each once: `*.test.yaml`, and prompt files that have tests
 * of their own.
 *
 * @param paths the working directory if there are none
 * @throws {CliError} USAGE_ERROR for a path that is not there or not a test file; NOT_FOUND_ERROR where there is none
 */
export async function findTestFiles(ctx: Context, paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const name of paths.length === 0 ? ['.'] : paths) files.push(...(await testFilesAt(ctx, name)));
  if (files.length > 0) return [...new Set(files)];
  throw notFoundError(
    `there is no test file (*.test.yaml) in ${paths.length === 0 ? 'this directory' : paths.join(', ')}`,
    'promptrun prompts new <file> writes a prompt file with its test file.',
  );
}

async function testFilesAt(ctx: Context, name: string): Promise<string[]> {
  const place = path.resolve(ctx.cwd, name);
  const stats = await stat(place).catch((error: unknown) => {
    const code = codeOf(error) ?? '';
    throw usageError(code === 'ENOENT' ? `there is no file ${name}` : `${name} can't be read (${code})`);
  });
  if (stats.isDirectory()) return inDirectory(ctx, place);
  if (name.endsWith('.prompt')) return testFilesAt(ctx, name.replace(/\.prompt$/u, '.test.yaml'));
  if (!stats.isFile()) throw usageError(`${name} is not a regular file`);
  return [place];
}

async function inDirectory(ctx: Context, directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const place = path.join(directory, entry.name);
    if (entry.isDirectory() && !NEVER_ENTERED.has(entry.name)) {
      files.push(...(await inDirectory(ctx, place)));
    } else if (entry.isFile() && isTestFile(entry.name)) {
      files.push(place);
    } else if (entry.isFile() && FOREIGN.test(entry.name)) {
      const own = SUFFIXES.map(suffix => entry.name.replace(FOREIGN, suffix));
      const isCovered = entries.some(({ name }) => own.includes(name));
      if (!isCovered && (await hasForeignTests(ctx, place))) files.push(place);
    }
  }
  return files;
}

export function isTestFile(name: string): boolean {
  return SUFFIXES.some(suffix => name.endsWith(suffix));
}
