// Builds the package: the command as CommonJS, the library as an ES module with its types, the font, and the licences of
// everything in them.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FONT_FILE, findPackageDirectory, writeBundles } from './bundles.js';
import { formatNotices, listBundledPackages } from './notices.js';
import { packSqlite } from './pack-sqlite.js';

/** The directory of the build; tests of the build itself use another one than dist. */
const outdir = path.resolve(process.env.OUTDIR ?? 'dist');

await rm(outdir, { recursive: true, force: true });
const files = await writeBundles(outdir);
await writeFile(
  path.join(outdir, 'THIRD-PARTY-NOTICES'),
  formatNotices(listBundledPackages(files)),
);
await mkdir(path.join(outdir, 'assets'), { recursive: true });
for (const file of [FONT_FILE, 'src/models/offline/clip.mp4']) {
  await cp(file, path.join(outdir, 'assets', path.basename(file)));
}
for (const file of ['index.html', 'page.css', 'report/report.css']) {
  await cp(path.join('src/page', file), path.join(outdir, 'page', path.basename(file)));
}
await cp('src/prompts/built-in', path.join(outdir, 'prompts'), {
  recursive: true,
  filter: file => path.extname(file) !== '.ts',
});
await packSqlite(path.join(outdir, 'prebuilds'));
writeTypes();

function writeTypes() {
  const compiler = path.join(findPackageDirectory('typescript'), 'bin/tsc');
  const options = ['-p', 'tsconfig.types.json', '--outDir', path.join(outdir, 'types')];
  execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
}
