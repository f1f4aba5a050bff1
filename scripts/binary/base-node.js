// Finds the Node that the single executable is made of: the running one if it is of that version, else npm's package
// of it. That lies in its own folder, since its `node` would be first on the PATH of every npm script.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../base-node');
const { optionalDependencies } = JSON.parse(
  readFileSync(path.join(FOLDER, 'package.json'), 'utf8'),
);

/** One exact version for every platform. */
export const [BASE_VERSION] = Object.values(optionalDependencies);

/** Returns the path of the Node to build with, installed if it isn't there. */
export function baseNode() {
  if (process.version === `v${BASE_VERSION}`) return process.execPath;
  const windows = process.platform === 'win32';
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`;
  if (!(name in optionalDependencies)) {
    throw new Error(
      `npm has no Node ${BASE_VERSION} for this platform: run the build with that version of Node`,
    );
  }
  const file = path.join(FOLDER, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node');
  if (!existsSync(file) || readVersion(file) !== `v${BASE_VERSION}`) {
    const args = ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', args, {
      cwd: FOLDER,
      shell: windows,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return file;
}

function readVersion(file) {
  return execFileSync(file, ['--version'], { encoding: 'utf8' }).trim();
}
