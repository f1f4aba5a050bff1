import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

interface Packed {
  /** Of the tarball, in bytes. */
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

interface PackageJson {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
const packageJson = readJson('package.json') as PackageJson;

describe('the package', () => {
  let packed: Packed;
  beforeAll(() => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--silent'];
    const answer: unknown = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' }));
    [packed] = Object.values(answer as Record<string, Packed>) as [Packed];
  });

  it('holds the command, the library with its types, completions, guides, licences, the font and the parser, and nothing else', () => {
    const kinds = packed.files.map(({ path: file }) =>
      file
        .replace(/^dist\/chunks\/[\w.-]+\.cjs$/, 'dist/chunks/*.cjs')
        .replace(/^dist\/library\/[\w.-]+\.js$/, 'dist/library/*.js')
        .replace(/^dist\/types\/.*\.d\.ts$/, 'dist/types/**/*.d.ts')
        .replace(/^docs\/[\w-]+\.md$/, 'docs/*.md')
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
      'dist/assets/DejaVuSans.ttf',
      'dist/assets/llhttp.wasm',
      'dist/assets/llhttp_simd.wasm',
      'dist/chunks/*.cjs',
      'dist/index.js',
      'dist/library/*.js',
      'dist/main.cjs',
      'dist/prompt-worker.cjs',
      'dist/types/**/*.d.ts',
      'docs/*.md',
      'docs/man/promptrun.1',
      'package.json',
    ]);
  });

  it('is at most 1.5 MB to download', () => {
    expect(packed.size).toBeLessThan(1_500_000);
  });

  it('runs nothing when it is installed', () => {
    const atInstallation = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'];
    expect(Object.keys(packageJson.scripts).filter(name => atInstallation.includes(name))).toEqual([]);
  });

  it('is at most ten packages on one platform, each of an exact version', () => {
    const { packages } = readJson('package-lock.json') as { packages: Record<string, LockedPackage> };
    const here = ({ dev, os, cpu, libc }: LockedPackage): boolean =>
      dev !== true &&
      (os?.includes('linux') ?? true) &&
      (cpu?.includes('x64') ?? true) &&
      (libc?.includes('glibc') ?? true);
    const installed = Object.keys(packages).filter(name => here(packages[name] ?? {}));
    expect(installed.length, installed.join('\n')).toBeLessThanOrEqual(10);
    for (const version of Object.values({
      ...packageJson.dependencies,
      ...packageJson.optionalDependencies,
    })) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  it('gives the licence of what it has bundled', () => {
    const notices = readFileSync(path.join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
    for (const name of ['commander', 'undici', 'kysely', 'dejavu-fonts-ttf']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\nLicence: `, 'm'));
    }
    expect(notices).not.toMatch(/^vitest /m);
  });
});
