import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const packageOf = name => path.dirname(require.resolve(`${name}/package.json`));

// Packages with a native part are installed beside the bundle; everything else is inside it.
const native = ['@photostructure/sqlite', '@resvg/resvg-js', '@napi-rs/keyring'];

/** Where the build goes; tests of the build itself take another place than dist. */
const outdir = path.resolve(process.env.OUTDIR ?? 'dist');

await rm(outdir, { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts', 'src/index.ts'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: native,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'linked',
  define: { 'process.env.NODE_ENV': '"production"' },
  // Bundled CommonJS packages call require for Node's own modules only. `createRequire` would cost each chunk time.
  banner: { js: 'const require=process.getBuiltinModule;' },
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});
execFileSync(
  process.execPath,
  [
    path.join(packageOf('typescript'), 'bin/tsc'),
    '-p',
    'tsconfig.types.json',
    '--outDir',
    path.join(outdir, 'types'),
  ],
  {
    stdio: 'inherit',
  },
);
await mkdir(path.join(outdir, 'assets'), { recursive: true });
const fonts = packageOf('dejavu-fonts-ttf');
await cp(path.join(fonts, 'ttf/DejaVuSans.ttf'), path.join(outdir, 'assets/DejaVuSans.ttf'));
await cp(path.join(fonts, 'LICENSE'), path.join(outdir, 'assets/DejaVuSans.LICENSE'));
