import { createRequire } from 'node:module';
import path from 'node:path';
import { canLoadTypeScript } from '../../../../processes/node-loader.ts';
import type { ConversionContext } from '../conversion-context.ts';

/** Matches a word of a command line, in quotes or without. */
const SHELL_WORD = /[^\s"']+|"(?<double>[^"]*)"|'(?<single>[^']*)'/gu;

/** Splits a command line into words as promptfoo does. */
export function splitCommandLine(line: string): string[] {
  return [...line.matchAll(SHELL_WORD)].map(
    ({ 0: word, groups }) => groups?.['double'] ?? groups?.['single'] ?? word,
  );
}

/** Follows `is TypeScript, which` in messages. */
export const NEEDS_TYPESCRIPT_LOADER =
  'this executable can only run with tsx or jiti in the project';

/** Returns true if a file is TypeScript and neither Node nor the file's project can run it. */
export function isUnloadableTypeScript(file: string, conversion: ConversionContext): boolean {
  if (!/\.[cm]?ts$/u.test(file) || !conversion.files.hasFile(file)) return false;
  if (canLoadTypeScript()) return false;
  const projectRequire = createRequire(path.resolve(conversion.directory, file));
  return !['tsx/cjs/api', 'jiti'].some(name => canResolve(projectRequire, name));
}

function canResolve(projectRequire: NodeJS.Require, name: string): boolean {
  try {
    return projectRequire.resolve(name) !== '';
  } catch {
    return false;
  }
}
