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
  if (existsSync(BUILT) && changedAt(BUILT) > Math.max(...SOURCES.map(newestIn))) return;

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

function newestIn(source: string): number {
  const file = path.join(root, source);
  if (!existsSync(file)) return 0;
  if (!statSync(file).isDirectory()) return changedAt(file);
  const inside = readdirSync(file, { recursive: true, encoding: 'utf8' });
  return Math.max(0, ...inside.map(name => changedAt(path.join(file, name))));
}

function changedAt(file: string): number {
  return statSync(file).mtimeMs;
}
