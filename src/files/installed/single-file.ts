import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The variable with the build output that a process or thread of the single executable runs instead
 * of the command.
 */
export const FILE_VARIABLE = 'PROMPTRUN_INTERNAL_FILE';

/** The asset with the executable's main script, with which threads start too. */
export const MAIN_SCRIPT = 'binary.cjs';

/** Returns true in the single executable, which contains its files. */
export function isSingleFile(): boolean {
  return process.getBuiltinModule('node:sea').isSea();
}

/**
 * Returns the bytes of a file within the executable, by its path in the package.
 *
 * @throws {Error} if it has none
 */
export function readAssetBytes(name: string): Buffer {
  return Buffer.from(process.getBuiltinModule('node:sea').getAsset(name));
}

/** Returns a file within the executable as text. */
export function readAssetText(name: string): string {
  return process.getBuiltinModule('node:sea').getAsset(name, 'utf8');
}

/** Returns a file within the executable without a copy. Never write to it. */
export function readSharedAssetBytes(name: string): Uint8Array {
  return new Uint8Array(process.getBuiltinModule('node:sea').getRawAsset(name) as ArrayBuffer);
}

/** Returns true if the executable has a file of this name. */
export function hasAsset(name: string): boolean {
  try {
    readSharedAssetBytes(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the path of the executable. Without /proc, Node knows only the name that the shell used.
 */
export function resolveExecutablePath({
  execPath,
  env,
}: Pick<NodeJS.Process, 'execPath' | 'env'> = process): string {
  if (execPath.includes(path.sep)) return path.resolve(execPath);
  const folders = (env['PATH'] ?? '')
    .split(path.delimiter)
    .map(folder => path.resolve(folder, execPath));
  return folders.find(file => existsSync(file)) ?? execPath;
}
