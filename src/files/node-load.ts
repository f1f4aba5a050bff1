/**
 * Code for `node -e` that loads a module of the user's. TypeScript is run by what the module's project has for it, or else
 * by Node itself, which takes no enums and no imports without an extension.
 */
export const NODE_LOAD = `
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
  return has('jiti') ? await near('jiti').createJiti(url).import(whole) : await import(url);
};`;

/** Matches the imports of a JavaScript file. */
const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** Matches names that Node has, and an engine without files, network, languages and timers does not. */
const NODE_ONLY =
  /\b(?<name>process)\.(?:env|mainModule|cwd|argv|platform|version|hrtime|memoryUsage|std)|\b(?<part>Intl|Buffer|crypto|performance)\.[A-Za-z]|\bnew (?<made>URL|URLSearchParams|TextEncoder|TextDecoder|AbortController)\(|(?<![.\w$])(?<called>fetch|setTimeout|setInterval|setImmediate|atob|btoa)\(|\.(?<method>toLocaleString|toLocaleDateString|toLocaleTimeString|localeCompare)\(/u;

/** Returns the first name in code that only Node has; undefined if there is none. */
export function usedOfNode(code: string): string | undefined {
  return Object.values(NODE_ONLY.exec(code)?.groups ?? {}).find(name => name !== undefined);
}

/** Returns true if only Node can run a JavaScript file: it imports something, or uses what Node alone has. */
export function needsNode(code: string): boolean {
  return IMPORTS.test(code) || usedOfNode(code) !== undefined;
}
