// What the bundle leaves out or puts off so that a command starts fast.
import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);

/** Modules that Node loads itself before a script, or with the first word that goes to standard output. */
const READY = new Set([
  'async_hooks',
  'buffer',
  'events',
  'fs',
  'module',
  'path',
  'process',
  'stream',
  'timers',
  'url',
  'util',
]);

const REQUIRE = /\brequire\((["'`])((?:node:)?[\w/]+)\1\)/g;

/**
 * Loads Node's own modules when something of theirs is first used: `http`, `crypto`, `assert` and others cost
 * milliseconds each. `process.getBuiltinModule`, unlike `require`, does not make them ready for import too.
 */
export function lateBuiltins() {
  return {
    name: 'late-builtins',
    renderChunk(code) {
      let late = false;
      const changed = code.replace(REQUIRE, (whole, _, name) => {
        if (!isBuiltin(name)) return whole;
        if (READY.has(name.replace('node:', '')) || isClass(name)) {
          return `globalThis.process.getBuiltinModule("${name}")`;
        }
        late = true;
        return name.endsWith('assert') ? `$lateAssert("${name}")` : `$late("${name}")`;
      });
      return changed === code ? null : { code: late ? LATE + changed : changed, map: null };
    },
  };
}

/** What is a class or a function itself, as `stream` is, can't be stood for: it may be extended at once. */
function isClass(name) {
  return typeof process.getBuiltinModule(name) === 'function' && !name.endsWith('assert');
}

// What is not a property of such a module itself is looked up, through its prototype, in the one it stands for. What
// only asserts what is true never loads `assert`.
const LATE = `
const $real = name => globalThis.process.getBuiltinModule(name);
const $prototype = name => new Proxy({}, {
  get: (_, key) => $real(name)[key],
  has: (_, key) => key in $real(name),
});
const $late = name => Object.create($prototype(name));
const $lateAssert = name => Object.setPrototypeOf(
  (value, message) => { if (!value) $real(name)(value, message); },
  $prototype(name),
);
`;

/**
 * What undici loads and no request here needs: its HTTP/2 client, bodies that are forms, most constants of its parser, and
 * Node's HTTP server for two constants. The parser itself is read from a file of its own, as it is.
 */
export function lightUndici() {
  const lighter = {
    'core/util.js': code =>
      replaceOnce(
        code,
        "const { IncomingMessage } = require('node:http')",
        'const IncomingMessage = undefined',
      ),
    'dispatcher/client.js': code =>
      replaceOnce(code, "const http = require('node:http')", 'const http = { maxHeaderSize: 16_384 }'),
    'dispatcher/client-h2.js': () => 'module.exports = undefined;',
    'web/fetch/body.js': () => 'module.exports = {};',
    'llhttp/constants.js': (_, id) => {
      const { ERROR, TYPE } = require(id);
      return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
    },
    'llhttp/llhttp-wasm.js': asAsset,
    'llhttp/llhttp_simd-wasm.js': asAsset,
  };
  return {
    name: 'light-undici',
    transform: {
      filter: { id: /undici[\\/]lib[\\/]/ },
      handler(code, id) {
        const file = id.replaceAll('\\', '/').split('/undici/lib/').at(-1);
        return Object.hasOwn(lighter, file) ? lighter[file].call(this, code, id) : null;
      },
    },
  };
}

/** Bytes that a module has as base64: as a file beside the chunks they are neither parsed nor decoded. */
function asAsset(_, id) {
  const fileName = `assets/${path.basename(id, '-wasm.js')}.wasm`;
  this.emitFile({ type: 'asset', fileName, source: require(id) });
  return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '../${fileName}'));`;
}

function replaceOnce(code, old, by) {
  if (code.split(old).length !== 2) throw new Error(`undici has changed: ${old} is not there once`);
  return code.replace(old, by);
}
