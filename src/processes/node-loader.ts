import { createRequire } from 'node:module';
import { isSingleFile } from '../files/installed/single-file.ts';

/**
 * Returns code for `node -e` that loads a module of the user's. TypeScript runs with the `tsx` or
 * `jiti` of the module's project, or else with the jiti that came with promptrun. The single
 * executable leaves it to Node, which accepts no enums and no imports without an extension. `tsx`
 * and jiti know the `paths` of the project's tsconfig.json, unless it extends one that is not
 * installed.
 *
 * @param isPortable true for code that another machine may run: it looks for no jiti of this one
 */
export function buildNodeLoader({
  isPortable = false,
}: {
  readonly isPortable?: boolean;
} = {}): string {
  return `
const load = async file => {
  const modulePath = require('node:path').resolve(file);
  const url = require('node:url').pathToFileURL(modulePath).href;
  if (!/\\.[cm]?ts$/.test(file)) return await import(url);
  const requireFrom = require('node:module').createRequire(url);
  const has = name => {
    try {
      return requireFrom.resolve(name) !== '';
    } catch {
      return false;
    }
  };
  if (has('tsx/cjs/api')) return requireFrom('tsx/cjs/api').require(modulePath, url);
  const jiti = ${JSON.stringify(isPortable ? ['jiti'] : ['jiti', ...findInstalledJiti()])}.find(has);
  if (jiti === undefined) return await import(url);
  const createLoader = tsconfigPaths => requireFrom(jiti).createJiti(url, { fsCache: false, tsconfigPaths });
  let loader;
  try {
    loader = createLoader(true);
  } catch {
    loader = createLoader();
  }
  return await loader.import(modulePath);
};`;
}

/**
 * Returns the path of the jiti that is installed with promptrun, as a list; empty in the single
 * executable.
 */
function findInstalledJiti(): string[] {
  if (isSingleFile()) return [];
  try {
    return [createRequire(import.meta.url).resolve('jiti')];
  } catch {
    return [];
  }
}

/** Returns true if TypeScript files of every project can be loaded: Node itself can from 22.18 on. */
export function canLoadTypeScript(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return !isSingleFile() || major > 22 || (major === 22 && minor >= 18);
}
