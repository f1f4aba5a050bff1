'use strict';
// Caches what V8 compiles of the command in dist/compiled, which saves a quarter of the next call. Does nothing if the
// installation can't be written, or with NODE_DISABLE_COMPILE_CACHE.
const { isAscii } = require('node:buffer');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

const COMMAND_FOLDER = path.resolve(__dirname, '../dist');
const CACHE_FOLDER = path.join(
  COMMAND_FOLDER,
  'compiled',
  `${process.version}-${process.platform}-${process.arch}`,
);

/** The function that Node wraps a CommonJS module in. */
const WRAPPER_START = '(function (exports, require, module, __filename, __dirname) {';
const WRAPPER_END = '\n})';

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
  const uncachedScripts = new Map();
  const loadDefault = require.extensions['.js'];
  require.extensions['.cjs'] = (module, file) => {
    if (file.startsWith(COMMAND_FOLDER + path.sep)) loadCommandFile(module, file, uncachedScripts);
    else loadDefault(module, file);
  };
  return () => {
    if (uncachedScripts.size > 0) writeCache(uncachedScripts);
  };
}

/** Runs a file of the command as `require` would. */
function loadCommandFile(module, file, uncachedScripts) {
  const source = fs.readFileSync(file);
  const cacheFile = path.join(CACHE_FOLDER, `${path.basename(file)}.v8`);
  const cachedData = readCached(cacheFile, source);
  const script = compile(file, source, cachedData);
  if (cachedData === undefined || script.cachedDataRejected) {
    uncachedScripts.set(cacheFile, { source, script });
  }
  const ownRequire = createRequire(file);
  script
    .runInThisContext()
    .call(module.exports, module.exports, ownRequire, module, file, path.dirname(file));
}

function compile(filename, source, cachedData) {
  // V8 stores ASCII as it is; anything else is decoded to twice the size.
  const text = source.toString(isAscii(source) ? 'latin1' : 'utf8');
  const code = `${WRAPPER_START}${text}${WRAPPER_END}`;
  return new vm.Script(code, { filename, columnOffset: -WRAPPER_START.length, cachedData });
}

/** Returns the compiled code of a file; undefined if it is missing or damaged, which could crash V8. */
function readCached(cacheFile, source) {
  try {
    const bytes = fs.readFileSync(cacheFile);
    const compiled = bytes.subarray(0, -CHECKSUM_BYTES);
    if (bytes.subarray(-CHECKSUM_BYTES).equals(computeChecksums(source, compiled))) return compiled;
  } catch {
    // Nothing is cached yet.
  }
  return undefined;
}

function writeCache(uncachedScripts) {
  try {
    // The user could not remove files that root leaves in their directory.
    if (process.getuid && fs.statSync(COMMAND_FOLDER).uid !== process.getuid()) return;
    fs.mkdirSync(CACHE_FOLDER, { recursive: true, mode: 0o755 });
    for (const [cacheFile, { source, script }] of uncachedScripts) {
      const compiled = script.createCachedData();
      writeAtomically(cacheFile, Buffer.concat([compiled, computeChecksums(source, compiled)]));
    }
  } catch {
    // A user who can write here may cache it.
  }
}

/** Returns the CRC-32 of the source and of its compiled code; a digest of `node:crypto` takes longer to load. */
function computeChecksums(source, compiled) {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(source), 0);
  bytes.writeUInt32LE(crc32(compiled), 4);
  return bytes;
}

/** Gives a file its name only once it is complete and on disk, because V8 does not check it. */
function writeAtomically(file, bytes) {
  const tempFile = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(tempFile, bytes, { flag: 'wx', mode: 0o644, flush: true });
    fs.renameSync(tempFile, file);
  } catch (error) {
    fs.rmSync(tempFile, { force: true });
    throw error;
  }
}

module.exports = { useCodeCache, CHECKSUM_BYTES };
