// The bundles: the command, the library, and what runs in browsers.
import { createRequire } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { createChunkNames } from './chunks.js';

const require = createRequire(import.meta.url);

/** Packages that npm installs with one binary, that of the platform, stay beside the bundle; everything else is in it. */
const NATIVE_PACKAGES = ['@resvg/resvg-js', '@napi-rs/keyring'];

/** The beginning of the names of modules that the bundler makes. */
const VIRTUAL_MODULE = '\0';

/** Matches a unit of UTF-16 that has to be written as an escape. */
const NON_ASCII_UNIT = /[^\0-\x7f]/g;
const ESCAPED_NON_ASCII_UNIT = /\\[^\0-\x7f]/;

/** The share of such units up to which escapes add next to nothing. */
const MAX_ESCAPED_SHARE = 0.01;

/** The font of cards. */
export const FONT_FILE = path.join(
  findPackageDirectory('dejavu-fonts-ttf'),
  'ttf/DejaVuSansMono.ttf',
);

/** Files of the packages that Nunjucks' own bundle for browsers contains. */
const NUNJUCKS_PARTS = ['asap', 'a-sync-waterfall'].map(name =>
  path.join(findPackageDirectory(name), 'package.json'),
);

/** The module that loads SQLite's binding, in place of the package that looks for it in `node_modules`. */
const SQLITE_BINDING = 'src/service/store/sqlite/packed-binding.ts';

/** A file of the C++ that is compiled into SQLite's binaries. */
const SQLITE_BINARIES_PART = path.join(findPackageDirectory('node-addon-api'), 'napi.h');

/** Returns the directory of an installed package. */
export function findPackageDirectory(name) {
  return path.dirname(require.resolve(`${name}/package.json`));
}

/** Writes the bundles. Returns the names of all files that are part of them, or shipped beside them. */
export async function writeBundles(outdir) {
  const bundles = [
    bundleCommand(outdir),
    bundleLibrary(outdir),
    bundlePages(outdir),
    bundleSandbox(outdir),
  ];
  const chunks = (await Promise.all(bundles)).flat();
  const moduleIds = chunks.flatMap(chunk => chunk.moduleIds ?? []);
  return [
    ...moduleIds.filter(id => !id.startsWith(VIRTUAL_MODULE)),
    FONT_FILE,
    ...NUNJUCKS_PARTS,
    SQLITE_BINARIES_PART,
  ];
}

/** Bundles the command in a few files of CommonJS, which start faster than many, or than ES modules. See chunks.js. */
export async function bundleCommand(outdir, { minify = true } = {}) {
  const bundle = await rolldown({
    ...getCommonOptions(),
    plugins: minify ? [createAsciiPlugin()] : [],
    input: {
      main: 'src/main.ts',
      'prompt-worker': 'src/prompts/tasks/prompt-worker.ts',
      'check-worker': 'src/cli/checks/check-worker.ts',
      'run-process': 'src/run-process.ts',
      'work-thread': 'src/service/http/work-thread/thread-entry.ts',
    },
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.write({
    dir: outdir,
    format: 'cjs',
    dynamicImportInCjs: false, // loading Node's own modules by `import` takes longer
    minify,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: createChunkNames(), debugName: 'files of chunks.js' }],
    },
  });
  return output;
}

/**
 * Writes the few characters of a file that are not ASCII as escapes: one of them makes V8 decode the whole file to twice
 * its size at each start. Files made of such characters would only grow.
 */
function createAsciiPlugin() {
  return {
    name: 'ascii',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        const nonAsciiCount = chunk.code?.match(NON_ASCII_UNIT)?.length ?? 0;
        if (nonAsciiCount > 0 && nonAsciiCount < chunk.code.length * MAX_ESCAPED_SHARE) {
          chunk.code = escapeNonAscii(chunk.code);
        }
      }
    },
  };
}

function escapeNonAscii(code) {
  if (ESCAPED_NON_ASCII_UNIT.test(code)) {
    throw new Error('a backslash before a character that is not ASCII');
  }
  return code.replace(
    NON_ASCII_UNIT,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

async function bundleLibrary(outdir) {
  const bundle = await rolldown({ ...getCommonOptions(), input: { index: 'src/index.ts' } });
  const { output } = await bundle.write({
    dir: outdir,
    format: 'esm',
    // Lines and names stay: Node shows the line that threw, and a debugger steps through it.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
    entryFileNames: '[name].js',
    chunkFileNames: 'library/[name]-[hash].js',
  });
  return output;
}

/** Bundles the code that runs in browsers: the page of `serve`, and the script within each report. */
async function bundlePages(outdir) {
  const pages = [
    { input: 'src/page/page.ts', file: 'page.js', format: 'esm' },
    { input: 'src/page/report/report.ts', file: 'report.js', format: 'iife' },
  ];
  const outputs = await Promise.all(
    pages.map(async ({ input, file, format }) => {
      const bundle = await rolldown({
        input,
        platform: 'browser',
        transform: { target: 'es2022' },
      });
      return await bundle.write({ file: path.join(outdir, 'page', file), format, minify: true });
    }),
  );
  return outputs.flatMap(({ output }) => output);
}

/** Bundles the code that the engine for JavaScript of strangers runs. It is read there, like theirs. */
async function bundleSandbox(outdir) {
  const input = 'src/prompts/foreign/promptfoo/nunjucks/render-prompts.ts';
  const bundle = await rolldown({ input, platform: 'browser', transform: { target: 'es2022' } });
  const file = path.join(outdir, 'assets/render-prompts.js');
  return (await bundle.write({ file, format: 'cjs', minify: true })).output;
}

function getCommonOptions() {
  return {
    platform: 'node',
    external: NATIVE_PACKAGES,
    // Handlebars works without it, and faster; nobody needs the source map of a template.
    // SQLite's binding is unpacked before it is loaded.
    resolve: { alias: { 'source-map': false, 'node-gyp-build': path.resolve(SQLITE_BINDING) } },
    transform: { target: 'node20.19', define: { 'process.env.NODE_ENV': '"production"' } },
    onLog(level, log, report) {
      // A module may be imported lazily in one place and eagerly in another.
      if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') report(level, log);
    },
  };
}
