/** Matches the imports of a JavaScript file. */
const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** Matches names that Node has, but not an engine without files, network, languages and timers. */
const NODE_ONLY =
  /\b(?<name>process)(?:\.(?:env|mainModule|cwd|argv|platform|version|hrtime|memoryUsage|std|arch|uptime|nextTick)|\[)|\}\s*=\s*(?<whole>process)\b|\b(?<part>Intl|Buffer|URL|crypto|performance|global|WebAssembly)\.[A-Za-z]|\bnew (?<made>URL|URLSearchParams|TextEncoder|TextDecoder|AbortController|Headers|Request|Response|Blob|FormData)\(|(?:(?<![.\w$])|globalThis\.)(?<called>fetch|setTimeout|setInterval|setImmediate|atob|btoa)\(|\.(?<method>toLocaleString|toLocaleDateString|toLocaleTimeString|localeCompare)\(/u;

/** Returns the first name in code that only Node has; undefined if there is none. */
export function findNodeOnlyName(code: string): string | undefined {
  return Object.values(NODE_ONLY.exec(code)?.groups ?? {}).find(name => name !== undefined);
}

/** Returns true if a JavaScript file imports something, which only Node can do. */
export function hasImports(code: string): boolean {
  return IMPORTS.test(code);
}

/**
 * Returns true if only Node can run a JavaScript file of promptfoo: it imports something, or uses
 * what Node alone has.
 */
export function needsNode(code: string): boolean {
  return hasImports(code) || findNodeOnlyName(code) !== undefined;
}
