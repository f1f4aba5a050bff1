// What the bundle leaves out or puts off so that a command starts fast.
import { isBuiltin } from 'node:module';

/** Node's modules that cost milliseconds to load and that most commands never use. */
const PUT_OFF = new Set([
  'child_process',
  'crypto',
  'fs/promises',
  'http2',
  'perf_hooks',
  'worker_threads',
  'zlib',
]);

const REQUIRE = /\brequire\((["'`])((?:node:)?[\w/]+)\1\)/g;

/**
 * Loads Node's own modules by `process.getBuiltinModule`, which, unlike `require`, does not make each of them ready
 * for import too; those that cost much only when something of theirs is used.
 */
export function lightBuiltins() {
  return {
    name: 'light-builtins',
    renderChunk(code) {
      let putOff = false;
      const changed = code.replace(REQUIRE, (whole, _, name) => {
        if (!isBuiltin(name)) return whole;
        const late = PUT_OFF.has(name.replace('node:', ''));
        putOff ||= late;
        return late ? `$late("${name}")` : `globalThis.process.getBuiltinModule("${name}")`;
      });
      if (changed === code) return null;
      return { code: putOff ? `${LATE}\n${changed}` : changed, map: null };
    },
  };
}

const LATE =
  'const $late=name=>new Proxy({},{get:(_,key)=>globalThis.process.getBuiltinModule(name)[key],has:(_,key)=>key in globalThis.process.getBuiltinModule(name)});';

/** undici loads its HTTP/2 client, and Node's, at once; no request here asks for HTTP/2. */
export function leaveOutHttp2() {
  return {
    name: 'leave-out-http2',
    load(id) {
      return /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/.test(id)
        ? 'module.exports = undefined;'
        : null;
    },
  };
}
