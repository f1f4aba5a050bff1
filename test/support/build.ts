import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const BUILT = path.join(root, 'dist/main.js');
const SOURCES = ['src', 'completions', 'esbuild.config.js', 'package-lock.json'];

/** Builds the command once before the tests, where it is missing or older than what it is made from. */
export default function build(): void {
  if (existsSync(BUILT) && changedAt(BUILT) > Math.max(...SOURCES.map(newestIn))) return;
  execFileSync(process.execPath, ['esbuild.config.js'], { cwd: root, stdio: 'inherit' });
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
