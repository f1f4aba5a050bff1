// The two bundles: the command, and the library.
import { createRequire } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { chunkNames } from './chunks.js';
import { lateBuiltins, lightUndici } from './start-up-plugins.js';

const require = createRequire(import.meta.url);

/** Packages with a native part are installed beside the bundle; everything else is inside it. */
const NATIVE = ['@photostructure/sqlite', '@resvg/resvg-js', '@napi-rs/keyring'];

/** What cards are drawn with. */
export const FONT = path.join(packageOf('dejavu-fonts-ttf'), 'ttf/DejaVuSans.ttf');

/** Where an installed package is. */
export function packageOf(name) {
  return path.dirname(require.resolve(`${name}/package.json`));
}

/** Writes both bundles and gives the names of all files that are part of them, or shipped beside them. */
export async function writeBundles(outdir) {
  const [command, library] = await Promise.all([bundleCommand(outdir), bundleLibrary(outdir)]);
  return [...[...command, ...library].flatMap(chunk => chunk.moduleIds ?? []), FONT];
}

/** A file of CommonJS starts faster than an ES module, and a few files faster than many: chunks.js says which. */
async function bundleCommand(outdir) {
  const bundle = await rolldown({
    ...common(),
    input: { main: 'src/main.ts', 'prompt-worker': 'src/service/prompts/tasks/worker.ts' },
    preserveEntrySignatures: 'allow-extension',
    plugins: [lightUndici(), lateBuiltins()],
  });
  const { output } = await bundle.write({
    dir: outdir,
    format: 'cjs',
    dynamicImportInCjs: false, // loading Node's own modules by `import` takes longer
    minify: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkNames(), debugName: 'files of chunks.js' }],
    },
  });
  return output;
}

async function bundleLibrary(outdir) {
  const bundle = await rolldown({ ...common(), input: { index: 'src/index.ts' } });
  const { output } = await bundle.write({
    dir: outdir,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'library/[name]-[hash].js',
  });
  return output;
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
