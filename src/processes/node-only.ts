/** Matches an import of a JavaScript file. */
const IMPORT_FORM = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

/** Match names that Node has, but not an engine without files, network, languages and timers. */
const NODE_ONLY_FORMS = [
  // process.env, process['env'], const { env } = process
  /\b(?<name>process)(?:\.(?:env|mainModule|cwd|argv|platform|version|hrtime|memoryUsage|std|arch|uptime|nextTick)|\[)/u,
  /\}\s*=\s*(?<whole>process)\b/u,
  // Buffer.from
  /\b(?<object>Intl|Buffer|URL|crypto|performance|global|WebAssembly)\.[A-Za-z]/u,
  // new URL(
  /\bnew (?<class>URL|URLSearchParams|TextEncoder|TextDecoder|AbortController|Headers|Request|Response|Blob|FormData)\(/u,
  // fetch(, globalThis.fetch(
  /(?:(?<![.\w$])|globalThis\.)(?<function>fetch|setTimeout|setInterval|setImmediate|atob|btoa)\(/u,
  // .toLocaleString(
  /\.(?<method>toLocaleString|toLocaleDateString|toLocaleTimeString|localeCompare)\(/u,
];
const NODE_ONLY_FORM = new RegExp(NODE_ONLY_FORMS.map(({ source }) => source).join('|'), 'u');

/** Returns the first name in code that only Node has; undefined if there is none. */
export function findNodeOnlyName(code: string): string | undefined {
  return Object.values(NODE_ONLY_FORM.exec(code)?.groups ?? {}).find(name => name !== undefined);
}

/** Returns true if a JavaScript file imports something, which only Node can do. */
export function hasImports(code: string): boolean {
  return IMPORT_FORM.test(code);
}

/**
 * Returns true if only Node can run a JavaScript file: it imports something, or uses what Node alone
 * has.
 */
export function needsNode(code: string): boolean {
  return hasImports(code) || findNodeOnlyName(code) !== undefined;
}
