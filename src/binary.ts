import path from 'node:path';
import vm from 'node:vm';
import {
  FILE_VARIABLE,
  hasAsset,
  readAssetText,
  readSharedAssetBytes,
} from './files/installed/single-file.ts';
import { getPackedFile, withUnpackedFile } from './files/installed/unpacked-file.ts';

// The main script of the single executable. It runs the files of the build from memory, as
// `require` runs them from disk.

/** The files of native modules by the ids that require them. */
const NATIVE_MODULES = new Map([
  ['@resvg/js-binding.js', 'native/resvgjs.node'], // of @resvg/resvg-js, whose index.js names it ./js-binding.js
  ['@napi-rs/keyring', 'native/keyring.node'],
]);

/** The files that run in their own process or thread. */
const BUNDLED_SCRIPTS = new Set([
  'prompt-worker.cjs',
  'check-worker.cjs',
  'run-process.cjs',
  'work-thread.cjs',
]);

/** The function that Node makes of a CommonJS module. */
type ModuleFunction = (
  exports: unknown,
  require: (id: string) => unknown,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

const bundledModules = new Map<string, { exports: unknown }>();

/**
 * Requires a module, never from disk: files in the working directory are not part of the
 * executable.
 */
function requireFrom(from: string, id: string): unknown {
  const builtIn: unknown = process.getBuiltinModule(id);
  if (builtIn !== undefined) return builtIn;

  const name = id.startsWith('.') ? path.posix.join(path.posix.dirname(from), id) : id;
  const module = bundledModules.get(name) ?? { exports: {} };
  if (bundledModules.has(name)) return module.exports;

  bundledModules.set(name, module);

  try {
    loadBundled(name, module);
  } catch (error) {
    bundledModules.delete(name);
    throw error;
  }

  return module.exports;
}

function loadBundled(name: string, module: { exports: unknown }): void {
  const nativeFile = NATIVE_MODULES.get(name);
  if (nativeFile !== undefined) {
    withUnpackedFile(getPackedFile(nativeFile), file => process.dlopen(module, file));
    return;
  }

  const script = `script/${name}`;
  if (!hasAsset(script)) {
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
  }

  const compiledFile = `compiled/${name}`;
  const filename = `promptrun:${name}`;
  const runModule = new vm.Script(readAssetText(script), {
    filename,
    ...(hasAsset(compiledFile) && { cachedData: readSharedAssetBytes(compiledFile) }),
  }).runInThisContext() as ModuleFunction;
  const require = (id: string): unknown => requireFrom(name, id);
  runModule.call(
    module.exports,
    module.exports,
    require,
    module,
    filename,
    path.posix.dirname(filename),
  );
}

/**
 * Returns the file that this process should run; undefined unless the executable itself started the
 * process or thread.
 */
function takeMarkedFile(): string | undefined {
  const { [FILE_VARIABLE]: file } = process.env;
  if (file === undefined) return undefined;
  // Child processes must not inherit the variable.
  delete process.env[FILE_VARIABLE];
  const isStartedByExecutable =
    process.connected || !process.getBuiltinModule('node:worker_threads').isMainThread;
  return isStartedByExecutable && BUNDLED_SCRIPTS.has(file) ? file : undefined;
}

const file = takeMarkedFile();

if (file === undefined) {
  const { start } = requireFrom('', './main.cjs') as {
    start(argv: readonly string[]): Promise<void>;
  };
  void start(process.argv.slice(2));
} else {
  requireFrom('', `./${file}`);
}
