// Bundles the large chaos run, which is TypeScript, and runs it (`npm run chaos`; CHAOS_ROWS and CHAOS_SEED change it).
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const outfile = path.resolve(import.meta.dirname, '../../node_modules/.cache/promptrun-chaos/chaos.mjs');
await build({
  entryPoints: [path.join(import.meta.dirname, 'chaos.soak.ts')],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
});
/** @type {{ default: () => Promise<void> }} */
const { default: chaos } = await import(pathToFileURL(outfile).href);
await chaos();
