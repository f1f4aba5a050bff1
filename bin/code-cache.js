'use strict';
// Caches what V8 compiles of the command in dist/compiled, which saves a quarter of the next call. Does nothing if the
// installation can't be written, or with NODE_DISABLE_COMPILE_CACHE.
const { isAscii } = require('node:buffer');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

const COMMAND = path.resolve(__dirname, '../dist');
const CACHE = path.join(
  COMMAND,
  'compiled',
  `${process.version}-${process.platform}-${process.arch}`,
);

const BEGINNING = '(function (exports, require, module, __filename, __dirname) {';
const END = '\n})';

/** The length of the checksums at the end of a cached file, in bytes. */
const CHECKSUM_BYTES = 8;

/** @typedef {{ source: Buffer, script: vm.Script }} Compiled */

/**
 * Makes `require` load the files of the command from the cache. Returns a function that caches the other files; call it
 * once the command is done, when most of what it uses has been compiled.
 */
function useCodeCache() {
  if (process.env.NODE_DISABLE_COMPILE_CACHE) return () => {};
  /** @type {Map<string, Compiled>} */
  const uncached = new Map();
  const loadAny = require.extensions['.js'];
  require.extensions['.cjs'] = (module, file) => {
    if (file.startsWith(COMMAND + path.sep)) load(module, file, uncached);
    else loadAny(module, file);
  };
  return () => {
    if (uncached.size > 0) writeCache(uncached);
  };
}

/** Runs a file of the command as `require` would. */
function load(module, file, uncached) {
  const source = fs.readFileSync(file);
  const cacheFile = path.join(CACHE, `${path.basename(file)}.v8`);
  const cachedData = readCached(cacheFile, source);
  const script = compile(file, source, cachedData);
  if (cachedData === undefined || script.cachedDataRejected) {
    uncached.set(cacheFile, { source, script });
  }
  const ownRequire = createRequire(file);
  script
    .runInThisContext()
    .call(module.exports, module.exports, ownRequire, module, file, path.dirname(file));
}

function compile(filename, source, cachedData) {
  // V8 stores ASCII as it is; anything else is decoded to twice the size.
  const text = source.toString(isAscii(source) ? 'latin1' : 'utf8');
  const code = `${BEGINNING}${text}${END}`;
  return new vm.Script(code, { filename, columnOffset: -BEGINNING.length, cachedData });
}

/** Returns the compiled code of a file; undefined if it is missing or damaged, which could crash V8. */
function readCached(cacheFile, source) {
  try {
    const bytes = fs.readFileSync(cacheFile);
    const compiled = bytes.subarray(0, -CHECKSUM_BYTES);
    if (bytes.subarray(-CHECKSUM_BYTES).equals(checksums(source, compiled))) return compiled;
  } catch {
    // Nothing is cached yet.
  }
  return undefined;
}

function writeCache(uncached) {
  try {
    // The user could not remove files that root leaves in their directory.
    if (process.getuid && fs.statSync(COMMAND).uid !== process.getuid()) return;
    fs.mkdirSync(CACHE, { recursive: true, mode: 0o755 });
    for (const [cacheFile, { source, script }] of uncached) {
      const compiled = script.createCachedData();
      writeWhole(cacheFile, Buffer.concat([compiled, checksums(source, compiled)]));
    }
  } catch {
    // A user who can write here may cache it.
  }
}

/** Returns the CRC-32 of the source and of its compiled code; a digest of `node:crypto` takes longer to load. */
function checksums(source, compiled) {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(source), 0);
  bytes.writeUInt32LE(crc32(compiled), 4);
  return bytes;
}

/** Names a file only once it is whole and on disk, because V8 does not check it. */
function writeWhole(file, bytes) {
  const temporary = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o644, flush: true });
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

module.exports = { useCodeCache, CHECKSUM_BYTES };
