// Packs the single executable with its licences for a release: `node scripts/release/pack.js <folder> <archive folder>`
// writes promptrun-<version>-<platform>-<arch>.tar.xz, on Windows .zip.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

const MEGABYTE = 1_000_000;
const [folder, archiveFolder] = process.argv.slice(2);
const { platform, arch } = process;
const isWindows = platform === 'win32';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const licences = { LICENSE: 'LICENSE', 'THIRD-PARTY-NOTICES': 'dist/THIRD-PARTY-NOTICES' };
for (const [name, file] of Object.entries(licences)) copyFileSync(file, path.join(folder, name));
mkdirSync(archiveFolder, { recursive: true });
const name = `promptrun-${version}-${isWindows ? 'windows' : platform}-${arch}.${isWindows ? 'zip' : 'tar.xz'}`;
const archive = path.resolve(archiveFolder, name);
rmSync(archive, { force: true });
// Windows has a tar that knows both forms; Git's, which is first on some PATHs, does not.
const tar = isWindows
  ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'tar.exe')
  : 'tar';
const files = [isWindows ? 'promptrun.exe' : 'promptrun', ...Object.keys(licences)];
if (!existsSync(path.join(folder, files[0]))) {
  throw new Error(`${folder} has no ${files[0]}: npm run build:binary`);
}
execFileSync(tar, [isWindows ? '-acf' : '-cJf', archive, '-C', folder, ...files], {
  stdio: 'inherit',
});

const megabytes = statSync(archive).size / MEGABYTE;
const maxMegabytes = isWindows ? 45 : 40;
process.stdout.write(`${name}: ${megabytes.toFixed(1)} MB\n`);
if (megabytes > maxMegabytes) throw new Error(`${name} has more than ${maxMegabytes} MB`);
