import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { copyCommand } from '../support/copied-command.ts';
import { buildCommandEnvironment } from '../support/environment.ts';

const root = path.resolve(import.meta.dirname, '../..');

interface Packed {
  /** The size of the tarball, in bytes. */
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

interface PackageJson {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly man: readonly string[];
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
}

const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
const packageJson = readJson('package.json') as PackageJson;

const { packages: locked } = readJson('package-lock.json') as {
  packages: Record<string, LockedPackage>;
};

describe('the package', () => {
  let packed: Packed;
  beforeAll(() => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'];
    const answer: unknown = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' }));
    [packed] = Object.values(answer as Record<string, Packed>) as [Packed];
  });

  it('holds the command, the library with its types, completions, guides, licences, the font, and nothing else', () => {
    const kinds = packed.files.map(({ path: file }) =>
      file
        .replace(/^dist\/chunks\/[\w.-]+\.cjs$/, 'dist/chunks/*.cjs')
        .replace(/^dist\/library\/[\w.-]+\.js$/, 'dist/library/*.js')
        .replace(/^dist\/prebuilds\/[\w-]+\.br$/, 'dist/prebuilds/*.br')
        .replace(/^dist\/types\/.*\.d\.ts$/, 'dist/types/**/*.d.ts')
        .replace(/^dist\/prompts\/.*\.(?:prompt|yaml)$/, 'dist/prompts/**')
        .replace(/^docs\/[\w-]+\.md$/, 'docs/*.md')
        .replace(/^docs\/[\w-]+\.txt$/, 'docs/*.txt')
        .replace(/^completions\/.*$/, 'completions/*'),
    );
    expect([...new Set(kinds)].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin/code-cache.js',
      'bin/package.json',
      'bin/promptrun.js',
      'completions/*',
      'dist/THIRD-PARTY-NOTICES',
      'dist/assets/DejaVuSansMono.ttf',
      'dist/assets/clip.mp4',
      'dist/assets/render-prompts.js',
      'dist/check-worker.cjs',
      'dist/chunks/*.cjs',
      'dist/index.js',
      'dist/library/*.js',
      'dist/main.cjs',
      'dist/page/index.html',
      'dist/page/page.css',
      'dist/page/page.js',
      'dist/page/report.css',
      'dist/page/report.js',
      'dist/prebuilds/*.br',
      'dist/prebuilds/digests.json',
      'dist/prompt-worker.cjs',
      'dist/prompts/**',
      'dist/run-process.cjs',
      'dist/types/**/*.d.ts',
      'dist/work-thread.cjs',
      'docs/*.md',
      'docs/*.txt',
      'docs/man/promptrun.1',
      'package.json',
    ]);
  });

  it('is at most 11 MB to download, and 16 MB on disk with the SQLite of older Nodes', () => {
    const sumSizes = (files: Packed['files']): number =>
      files.reduce((sum, file) => sum + file.size, 0);
    const others = packed.files.filter(file => !file.path.startsWith('dist/prebuilds/'));
    expect(packed.size).toBeLessThan(11_000_000);
    expect(sumSizes(packed.files)).toBeLessThan(16_000_000);
    expect(sumSizes(others)).toBeLessThan(7_210_000);
  });

  it('runs nothing when it is installed, and neither does what is installed with it', () => {
    const atInstallation = [
      'preinstall',
      'install',
      'postinstall',
      'prepare',
      'preprepare',
      'postprepare',
    ];
    expect(Object.keys(packageJson.scripts).filter(name => atInstallation.includes(name))).toEqual(
      [],
    );
    const withScripts = Object.entries(locked).filter(
      ([, one]) => one.dev !== true && one.hasInstallScript,
    );
    expect(withScripts.map(([name]) => name)).toEqual([]);
  });

  it('is at most six packages on one platform, each of an exact version', () => {
    const isInstalledHere = ({ dev, os, cpu, libc }: LockedPackage): boolean =>
      dev !== true &&
      (os?.includes('linux') ?? true) &&
      (cpu?.includes('x64') ?? true) &&
      (libc?.includes('glibc') ?? true);

    const installed = Object.keys(locked).filter(name => isInstalledHere(locked[name] ?? {}));
    expect(installed.length, installed.join('\n')).toBeLessThanOrEqual(6);

    for (const version of Object.values({
      ...packageJson.dependencies,
      ...packageJson.optionalDependencies,
    })) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  it('keeps the lines of the library, since Node prints the whole line that threw', () => {
    const lines = readFileSync(path.join(root, 'dist/index.js'), 'utf8').split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(1_000);
  });

  it('names its man page in a list, since npm installs no other', () => {
    expect(packageJson.man).toEqual(['./docs/man/promptrun.1']);
  });

  it.skipIf(hasSqlite)("says which Node has SQLite if its own can't be loaded", async () => {
    const elsewhere = `Object.defineProperty(process, 'arch', { value: 'riscv64' })`;
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(elsewhere)}`];
    const { code, stderr } = await runCommand(['run', 'hello', '-i', 'name=Ada'], { nodeArgs });
    expect(stderr).toMatch(
      /^error: Node 20\.\S+ has no SQLite, and .*; use Node 22\.13 or newer, which includes it/mu,
    );
    expect(code).toBe(EXIT.usage);
  });

  it('contains the licences of bundled packages', () => {
    const notices = readFileSync(path.join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
    for (const name of ['commander', 'undici', 'kysely', 'dejavu-fonts-ttf']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\nLicence: `, 'm'));
    }
    expect(notices).not.toMatch(/^vitest /m);
    expect(notices).toMatch(/^llhttp 9[^]*Copyright \(c\) Fedor Indutny/m);
  });
});

it('in a project is removed by another command than everywhere', async () => {
  const project = createTemporaryDirectory();
  const place = path.join(project, 'node_modules/promptrun');
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(project, 'package.json'), '{"dependencies":{"promptrun":"*"}}');
  const command = [copyCommand(place), 'uninstall', '--dry-run'];
  const { stderr } = spawnSync(process.execPath, command, {
    env: buildCommandEnvironment(project),
    encoding: 'utf8',
  });

  expect(stderr).toContain(
    `To remove the package itself: npm uninstall --prefix ${project} promptrun\n`,
  );
});
