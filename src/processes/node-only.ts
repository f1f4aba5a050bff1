/** Matches the imports of a JavaScript file. */
const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** Matches names that Node has, but not an engine without files, network, languages and timers. */
const NODE_ONLY = new RegExp(
  [
    // process.env, process['env'], const { env } = process
    String.raw`\b(?<name>process)(?:\.(?:env|mainModule|cwd|argv|platform|version|hrtime|memoryUsage|std|arch|uptime|nextTick)|\[)`,
    String.raw`\}\s*=\s*(?<whole>process)\b`,
    // Buffer.from
    String.raw`\b(?<object>Intl|Buffer|URL|crypto|performance|global|WebAssembly)\.[A-Za-z]`,
    // new URL(
    String.raw`\bnew (?<class>URL|URLSearchParams|TextEncoder|TextDecoder|AbortController|Headers|Request|Response|Blob|FormData)\(`,
    // fetch(, globalThis.fetch(
    String.raw`(?:(?<![.\w$])|globalThis\.)(?<function>fetch|setTimeout|setInterval|setImmediate|atob|btoa)\(`,
    // .toLocaleString(
    String.raw`\.(?<method>toLocaleString|toLocaleDateString|toLocaleTimeString|localeCompare)\(`,
  ].join('|'),
  'u',
);

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
