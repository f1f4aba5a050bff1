// Bundles the benchmarks, which are TypeScript, and runs them one after the other: all, or those named
// (`npm run bench`, `node test/bench/run.js service`, `node test/bench/run.js kill`).
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const here = import.meta.dirname;
// Inside node_modules, so that the packages with a native part are found from there.
const outdir = path.resolve(here, '../../node_modules/.cache/promptrun-bench');
const wanted = process.argv.slice(2);

rmSync(outdir, { recursive: true, force: true });
const bundle = await rolldown({
  input: readdirSync(here)
    .filter(name => name.endsWith('.ts'))
    .map(name => path.join(here, name)),
  platform: 'node',
  external: [
    '@photostructure/sqlite',
    '@resvg/resvg-js',
    '@napi-rs/keyring',
    'autocannon',
    'rolldown',
  ],
  transform: { target: 'node20.19', define: { 'process.env.NODE_ENV': '"production"' } },
});
await bundle.write({
  dir: outdir,
  format: 'esm',
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
});

// Soaks take long and measure nothing: they run only where they are named.
const byDefault = readdirSync(outdir).filter(name => name.endsWith('.bench.mjs'));
const named = wanted.flatMap(name => [`${name}.bench.mjs`, `${name}.soak.mjs`]);
const chosen =
  wanted.length > 0 ? readdirSync(outdir).filter(name => named.includes(name)) : byDefault;
for (const file of chosen.sort()) {
  /** @type {{ default: () => Promise<void> }} */
  const { default: bench } = await import(pathToFileURL(path.join(outdir, file)).href);
  await bench();
}
