// Makes what the package ships: the command as CommonJS, the library as an ES module with its types, the font.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { chunkNames } from './chunks.js';
import { lateBuiltins, lightUndici } from './start-up-plugins.js';

const require = createRequire(import.meta.url);
const packageOf = name => path.dirname(require.resolve(`${name}/package.json`));

/** Packages with a native part are installed beside the bundle; everything else is inside it. */
const NATIVE = ['@photostructure/sqlite', '@resvg/resvg-js', '@napi-rs/keyring'];

/** Where the build goes; tests of the build itself take another place than dist. */
const outdir = path.resolve(process.env.OUTDIR ?? 'dist');

await rm(outdir, { recursive: true, force: true });
await Promise.all([bundleCommand(), bundleLibrary(), copyFont()]);
makeTypes();

/** A file of CommonJS starts faster than an ES module, and a few files faster than many: chunks.js says which. */
async function bundleCommand() {
  const bundle = await rolldown({
    ...common(),
    input: { main: 'src/main.ts' },
    preserveEntrySignatures: 'allow-extension',
    plugins: [lightUndici(), lateBuiltins()],
  });
  await bundle.write({
    dir: outdir,
    format: 'cjs',
    minify: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkNames(), debugName: 'files of chunks.js' }],
    },
  });
}

async function bundleLibrary() {
  const bundle = await rolldown({ ...common(), input: { index: 'src/index.ts' } });
  await bundle.write({
    dir: outdir,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'library/[name]-[hash].js',
  });
}

function common() {
  return {
    platform: 'node',
    external: NATIVE,
    transform: { target: 'node20.19', define: { 'process.env.NODE_ENV': '"production"' } },
    onLog(level, log, report) {
      // A module may be loaded late in one place and be there already in another.
      if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') report(level, log);
    },
  };
}

function makeTypes() {
  const compiler = path.join(packageOf('typescript'), 'bin/tsc');
  const options = ['-p', 'tsconfig.types.json', '--outDir', path.join(outdir, 'types')];
  execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
}

async function copyFont() {
  const fonts = packageOf('dejavu-fonts-ttf');
  await mkdir(path.join(outdir, 'assets'), { recursive: true });
  await cp(path.join(fonts, 'ttf/DejaVuSans.ttf'), path.join(outdir, 'assets/DejaVuSans.ttf'));
  await cp(path.join(fonts, 'LICENSE'), path.join(outdir, 'assets/DejaVuSans.LICENSE'));
}
