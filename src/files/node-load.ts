import { createRequire } from 'node:module';
import { isSingleFile } from './installed/single-file.ts';

/** Returns the file of the jiti that is installed with promptrun; empty if there is none, as in the single executable. */
function installedJiti(): string[] {
  if (isSingleFile()) return [];
  try {
    return [createRequire(import.meta.url).resolve('jiti')];
  } catch {
    return [];
  }
}

/**
 * Returns code for `node -e` that loads a module of the user's. TypeScript is run by what the module's project has for it,
 * or else by the jiti that came with promptrun; the single executable leaves it to Node, which takes no enums and no
 * imports without an extension. @param isKept true if the code is written to a file, which another machine may run
 */
export function nodeLoad(isKept = false): string {
  return `
const load = async file => {
  const whole = require('node:path').resolve(file);
  const url = require('node:url').pathToFileURL(whole).href;
  if (!/\\.[cm]?ts$/.test(file)) return await import(url);
  const near = require('node:module').createRequire(url);
  const has = name => {
    try {
      return near.resolve(name) !== '';
    } catch {
      return false;
    }
  };
  if (has('tsx/cjs/api')) return near('tsx/cjs/api').require(whole, url);
  const jiti = ${JSON.stringify(isKept ? ['jiti'] : ['jiti', ...installedJiti()])}.find(has);
  return jiti === undefined ? await import(url) : await near(jiti).createJiti(url, { fsCache: false }).import(whole);
};`;
}

/** Returns true if every TypeScript file can be loaded, whatever its project has. */
export function loadsTypes(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return !isSingleFile() || major > 22 || (major === 22 && minor >= 18);
}

/** Matches the imports of a JavaScript file. */
const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** Matches names that Node has, and an engine without files, network, languages and timers does not. */
const NODE_ONLY =
  /\b(?<name>process)(?:\.(?:env|mainModule|cwd|argv|platform|version|hrtime|memoryUsage|std|arch|uptime|nextTick)|\[)|\}\s*=\s*(?<whole>process)\b|\b(?<part>Intl|Buffer|URL|crypto|performance|global|WebAssembly)\.[A-Za-z]|\bnew (?<made>URL|URLSearchParams|TextEncoder|TextDecoder|AbortController|Headers|Request|Response|Blob|FormData)\(|(?:(?<![.\w$])|globalThis\.)(?<called>fetch|setTimeout|setInterval|setImmediate|atob|btoa)\(|\.(?<method>toLocaleString|toLocaleDateString|toLocaleTimeString|localeCompare)\(/u;

/** Returns the first name in code that only Node has; undefined if there is none. */
export function usedOfNode(code: string): string | undefined {
  return Object.values(NODE_ONLY.exec(code)?.groups ?? {}).find(name => name !== undefined);
}

/** Returns true if a JavaScript file imports something, which only Node can do. */
export function importsSomething(code: string): boolean {
  return IMPORTS.test(code);
}

/** Returns true if only Node can run a JavaScript file of promptfoo: it imports something, or uses what Node alone has. */
export function needsNode(code: string): boolean {
  return importsSomething(code) || usedOfNode(code) !== undefined;
}
