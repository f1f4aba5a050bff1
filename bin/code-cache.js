'use strict';
// Keeps what V8 compiled of the command beside the command, as Python does in `__pycache__`: the next start compiles
// nothing, which is a quarter of one call. Where the installation can't be written, or with NODE_DISABLE_COMPILE_CACHE,
// all of this is left out.
const { isAscii } = require('node:buffer');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

const COMMAND = path.resolve(__dirname, '../dist');
const KEPT = path.join(COMMAND, 'compiled', `${process.version}-${process.platform}-${process.arch}`);

const BEGINNING = '(function (exports, require, module, __filename, __dirname) {';
const END = '\n})';

/** The length of the checksums after the cached data of a file, in bytes. */
const SUMS = 8;

/** @typedef {{ source: Buffer, script: vm.Script }} Compiled */

/**
 * Makes `require` take the files of the command with what was kept of them. What comes back keeps what was not kept
 * yet; it is called once the command is done, when most of what it uses has been compiled.
 */
function useCodeCache() {
  if (process.env.NODE_DISABLE_COMPILE_CACHE) return () => {};
  /** @type {Map<string, Compiled>} */
  const fresh = new Map();
  const loadAny = require.extensions['.js'];
  require.extensions['.cjs'] = (module, file) => {
    if (file.startsWith(COMMAND + path.sep)) load(module, file, fresh);
    else loadAny(module, file);
  };
  return () => {
    if (fresh.size > 0) keep(fresh);
  };
}

/** Runs a file of the command as `require` would. */
function load(module, file, fresh) {
  const source = fs.readFileSync(file);
  const place = path.join(KEPT, `${path.basename(file)}.v8`);
  const cachedData = keptFor(place, source);
  const script = compile(file, source, cachedData);
  if (cachedData === undefined || script.cachedDataRejected) fresh.set(place, { source, script });
  const own = createRequire(file);
  script.runInThisContext().call(module.exports, module.exports, own, module, file, path.dirname(file));
}

function compile(filename, source, cachedData) {
  // V8 keeps ASCII as it is; anything else is decoded to twice the size.
  const text = source.toString(isAscii(source) ? 'latin1' : 'utf8');
  const code = `${BEGINNING}${text}${END}`;
  return new vm.Script(code, { filename, columnOffset: -BEGINNING.length, cachedData });
}

/**
 * Returns the compiled code of a file; undefined if it is missing or damaged, which could crash V8. Checksums of the
 * source and of the code follow the code, which V8 reads in place.
 */
function keptFor(place, source) {
  try {
    const bytes = fs.readFileSync(place);
    const compiled = bytes.subarray(0, -SUMS);
    if (bytes.subarray(-SUMS).equals(sums(source, compiled))) return compiled;
  } catch {
    // Nothing is kept yet.
  }
  return undefined;
}

function keep(fresh) {
  try {
    // The user could not remove files that root leaves in their directory.
    if (process.getuid && fs.statSync(COMMAND).uid !== process.getuid()) return;
    fs.mkdirSync(KEPT, { recursive: true, mode: 0o755 });
    for (const [place, { source, script }] of fresh) {
      const compiled = script.createCachedData();
      put(place, Buffer.concat([compiled, sums(source, compiled)]));
    }
  } catch {
    // It may be kept by somebody who can write here.
  }
}

/** Returns the CRC-32 of the source and of what was made from it; a digest of `node:crypto` takes longer to load. */
function sums(source, compiled) {
  const bytes = Buffer.alloc(SUMS);
  bytes.writeUInt32LE(crc32(source), 0);
  bytes.writeUInt32LE(crc32(compiled), 4);
  return bytes;
}

/** Gives a file its name only once it is whole and on the disk: V8 does not check it. */
function put(place, bytes) {
  const temporary = `${place}.${process.pid}`;
  try {
    fs.writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o644, flush: true });
    fs.renameSync(temporary, place);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

module.exports = { useCodeCache, SUMS };
