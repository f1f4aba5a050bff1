import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const DIST = path.join(root, 'dist');
const BUILT = path.join(DIST, 'main.cjs');
const SOURCES = ['src', 'completions', 'scripts', 'package-lock.json'];

/** Builds the command once before the tests if it is missing or older than its sources. */
export default function build(): void {
  if (existsSync(BUILT) && getChangeTime(BUILT) > Math.max(...SOURCES.map(findNewestIn))) return;

  const cache = path.join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const buildDirectory = mkdtempSync(path.join(cache, 'build-'));
  const env = { ...process.env, OUTDIR: path.join(buildDirectory, 'new') };
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: root, stdio: 'inherit', env });

  // Swapped in one step: tests that another terminal runs meanwhile find the old build or the new
  // one.
  if (existsSync(DIST)) renameSync(DIST, path.join(buildDirectory, 'old'));
  renameSync(path.join(buildDirectory, 'new'), DIST);
  rmSync(buildDirectory, { recursive: true, force: true });
}

function findNewestIn(source: string): number {
  const file = path.join(root, source);
  if (!existsSync(file)) return 0;
  if (!statSync(file).isDirectory()) return getChangeTime(file);
  const inside = readdirSync(file, { recursive: true, encoding: 'utf8' });
  return Math.max(0, ...inside.map(name => getChangeTime(path.join(file, name))));
}

function getChangeTime(file: string): number {
  return statSync(file).mtimeMs;
}
