// Finds the Node that the single executable is made of: the running one if it has that version, else npm's package of
// it. The package is installed in a folder of its own, because its `node` would be first on the PATH of npm scripts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const BASE_NODE_FOLDER = path.resolve(import.meta.dirname, '../base-node');
const { optionalDependencies } = JSON.parse(
  readFileSync(path.join(BASE_NODE_FOLDER, 'package.json'), 'utf8'),
);

/** The exact version of Node, which is the same for every platform. */
export const [BASE_VERSION] = Object.values(optionalDependencies);

/** Returns the path of the Node to build with. Installs it if necessary. */
export function findBaseNode() {
  if (process.version === `v${BASE_VERSION}`) return process.execPath;
  const isWindows = process.platform === 'win32';
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  if (!(name in optionalDependencies)) {
    throw new Error(
      `npm has no Node ${BASE_VERSION} for this platform: run the build with that version of Node`,
    );
  }
  const file = path.join(
    BASE_NODE_FOLDER,
    'node_modules',
    name,
    'bin',
    isWindows ? 'node.exe' : 'node',
  );
  if (!existsSync(file) || readVersion(file) !== `v${BASE_VERSION}`) {
    const args = ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', args, {
      cwd: BASE_NODE_FOLDER,
      shell: isWindows,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return file;
}

function readVersion(file) {
  return execFileSync(file, ['--version'], { encoding: 'utf8' }).trim();
}
