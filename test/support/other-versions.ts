import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDirectory } from './context.ts';
import { copyCommand } from './copied-command.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Part of the build; versions without it, or without the migrations, were made otherwise. */
const CHUNKS = 'scripts/chunks.js';
const MIGRATIONS = 'src/service/store/migrations.ts';

/** The end of the steps in the built command; the next version has one more. */
const LAST_STEP = /(`alter table runs add column "endedAt" bigint`)\]/;

/** The commit of the previous version, or the reason why it is unknown here. */
export type PreviousVersion = { readonly commit: string } | { readonly unknown: string };

/**
 * Returns the last tagged version before this commit if it is made as this one is, or else the
 * commit before the newest migration.
 */
export function findPreviousVersion(): PreviousVersion {
  const top = runGit('rev-parse', '--show-toplevel');
  if (top === undefined || realpathSync(top) !== realpathSync(ROOT)) {
    return { unknown: 'no git repository' };
  }

  if (runGit('rev-parse', '--is-shallow-repository') !== 'false') {
    return { unknown: 'a clone without history' };
  }

  const tag = runGit('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^');
  const newest = runGit(
    'log',
    '-1',
    '--format=%H',
    '-G',
    'alter table|create (table|index)',
    '--',
    MIGRATIONS,
  );

  const isComparable =
    tag !== undefined &&
    [CHUNKS, MIGRATIONS].every(
      file => runGit('rev-parse', '--verify', `${tag}:${file}`) !== undefined,
    );
  const commit = runGit('rev-parse', isComparable ? `${tag}^{commit}` : `${newest}^`);
  return commit === undefined ? { unknown: 'a repository without an earlier version' } : { commit };
}

/** Builds a commit's command in a temporary directory; returns its path. */
export function buildVersion(commit: string): string {
  const tree = createTemporaryDirectory();
  const archive = path.join(tree, 'tree.tar');
  execFileSync('git', ['archive', '-o', archive, commit], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive], { cwd: tree });
  const modules = path.join(ROOT, 'node_modules');
  symlinkSync(modules, path.join(tree, 'node_modules'));

  // Early versions expect the modules themselves where the link is.
  const chunks = path.join(tree, CHUNKS);
  const script = readFileSync(chunks, 'utf8');
  writeFileSync(
    chunks,
    script.replace(
      "path.join('node_modules', root)",
      `path.join(${JSON.stringify(modules)}, root)`,
    ),
  );

  const build = path.join(tree, 'scripts/build.js');

  // The command needs no types, which take half of the time.
  writeFileSync(build, readFileSync(build, 'utf8').replace(/^makeTypes\(\);$/m, ''));
  execFileSync(process.execPath, [build], { cwd: tree, stdio: 'inherit' });
  return path.join(tree, 'bin/promptrun.js');
}

/**
 * Copies the built command and adds a migration to the copy, as the next version may have one;
 * returns its path.
 */
export function buildNextVersion(): string {
  const tree = createTemporaryDirectory();
  const command = copyCommand(tree);
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(tree, 'node_modules'));
  const chunks = path.join(tree, 'dist/chunks');
  const changedChunks = readdirSync(chunks).filter(name => {
    const file = path.join(chunks, name);
    const code = readFileSync(file, 'utf8');
    if (!LAST_STEP.test(code)) return false;
    writeFileSync(file, code.replace(LAST_STEP, '$1,`alter table runs add column "note" text`]'));
    return true;
  });
  if (changedChunks.length !== 1) {
    throw new Error(`${changedChunks.length} files of dist/chunks have the newest migration`);
  }

  return command;
}

function runGit(...args: string[]): string | undefined {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio }).trim() || undefined;
  } catch {
    return undefined;
  }
}
