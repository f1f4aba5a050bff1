import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTemporaryDirectory } from '../support/context.ts';

const root = path.resolve(import.meta.dirname, '../..');

const NAMED = {
  repository: { type: 'git', url: 'git+https://github.com/ada/promptrun.git' },
  bugs: 'https://github.com/ada/promptrun/issues',
  author: 'Ada',
};

/** Returns a folder with what the steps of a release read. */
function createProject(
  packageJson: Readonly<Record<string, unknown>>,
  changelog = '## 1.2.3 (2026-11-27)\n\n- New.\n\n## 1.2.2 (2026-11-01)\n\n- Old.\n',
) {
  const folder = createTemporaryDirectory();
  const own = { version: '1.2.3', license: 'MIT', description: 'Runs: "prompts"', ...packageJson };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(own));
  writeFileSync(path.join(folder, 'CHANGELOG.md'), `# Changelog\n\n${changelog}`);
  return folder;
}

function step(name: string, args: readonly string[], cwd: string) {
  const script = path.join(root, 'scripts/release', name);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('a release', () => {
  it('begins only once the owner has named the repository, the address for bugs and the author', () => {
    const { status, stderr } = step('check.js', ['v1.2.3'], createProject({ bugs: NAMED.bugs }));
    expect([status, stderr]).toEqual([
      1,
      'error: package.json lacks repository, author: the owner of the project has to name them before a release\n',
    ]);
    expect(step('check.js', ['v1.2.3'], createProject(NAMED))).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('needs the tag of the version, and its date in the changelog', () => {
    const { status, stderr } = step(
      'check.js',
      ['v1.2.4'],
      createProject(NAMED, '## 1.2.3 (unreleased)\n'),
    );
    expect(status).toBe(1);
    expect(stderr).toContain('the tag is v1.2.4, and the version in package.json is 1.2.3');
    expect(stderr).toContain('CHANGELOG.md has no section "## 1.2.3 (YYYY-MM-DD)"');
  });

  it('says what the changelog says of the version', () => {
    expect(step('notes.js', ['1.2.3'], createProject(NAMED)).stdout).toBe('- New.\n');
    expect(step('notes.js', ['1.2.4'], createProject(NAMED)).stderr).toContain(
      'CHANGELOG.md has no section for 1.2.4',
    );
  });

  it.skipIf(process.platform === 'win32')('packs the executable with the licences', () => {
    const folder = createProject(NAMED);
    for (const name of ['binary', 'dist']) mkdirSync(path.join(folder, name));

    for (const name of ['binary/promptrun', 'LICENSE', 'dist/THIRD-PARTY-NOTICES']) {
      writeFileSync(path.join(folder, name), name);
    }

    const { status, stderr, stdout } = step('pack.js', ['binary', 'release'], folder);
    expect([status, stderr]).toEqual([0, '']);

    const [archive = ''] = readdirSync(path.join(folder, 'release'));
    expect(archive).toBe(`promptrun-1.2.3-${process.platform}-${process.arch}.tar.xz`);
    expect(stdout).toContain(archive);

    const packed = execFileSync('tar', ['-tJf', path.join(folder, 'release', archive)], {
      encoding: 'utf8',
    });
    expect(packed.trim().split('\n')).toEqual(['promptrun', 'LICENSE', 'THIRD-PARTY-NOTICES']);
  });
});

describe('the manifests of package managers', () => {
  const hash = (digit: number): string => String(digit).repeat(64);
  const SUMS = [
    `${hash(1)}  promptrun-1.2.3-linux-x64.tar.xz`,
    `${hash(2)}  promptrun-1.2.3-linux-arm64.tar.xz`,
    `${hash(3)}  promptrun-1.2.3-darwin-arm64.tar.xz`,
    `${hash(4)}  promptrun-1.2.3-darwin-x64.tar.xz`,
    `${hash(5)} *promptrun-1.2.3-windows-x64.zip`,
    `${hash(6)}  promptrun-1.2.3.tgz`,
  ];

  const getAssetUrl = (name: string): string =>
    `https://github.com/ada/promptrun/releases/download/v1.2.3/promptrun-1.2.3-${name}`;

  function manifests(
    packageJson: Readonly<Record<string, unknown>>,
    sums = SUMS,
    version = '1.2.3',
  ) {
    const folder = createProject(packageJson);
    writeFileSync(path.join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`);
    const outcome = step('manifests.js', ['SHA256SUMS', version, 'out'], folder);
    const out = path.join(folder, 'out');
    const names = existsSync(out) ? readdirSync(out) : [];

    return {
      ...outcome,
      names,
      read: (name: string) => readFileSync(path.join(out, name), 'utf8'),
    };
  }

  it('name the archives of the release and their checksums', () => {
    const { names, read, status, stderr } = manifests(NAMED);
    expect([status, stderr]).toEqual([0, '']);
    expect(names.toSorted()).toEqual([
      'ada.promptrun.installer.yaml',
      'ada.promptrun.locale.en-US.yaml',
      'ada.promptrun.yaml',
      'promptrun.json',
      'promptrun.rb',
    ]);

    const formula = read('promptrun.rb');
    for (const [digit, name] of [
      'linux-x64',
      'linux-arm64',
      'darwin-arm64',
      'darwin-x64',
    ].entries()) {
      expect(formula).toContain(
        `url "${getAssetUrl(name)}.tar.xz"\n      sha256 "${hash(digit + 1)}"`,
      );
    }

    expect(JSON.parse(read('promptrun.json'))).toMatchObject({
      version: '1.2.3',
      architecture: { '64bit': { url: getAssetUrl('windows-x64.zip'), hash: hash(5) } },
      bin: 'promptrun.exe',
    });

    expect(parse(read('ada.promptrun.installer.yaml'))).toMatchObject({
      PackageIdentifier: 'ada.promptrun',
      PackageVersion: '1.2.3',
      Installers: [
        {
          Architecture: 'x64',
          InstallerUrl: getAssetUrl('windows-x64.zip'),
          InstallerSha256: hash(5),
        },
      ],
      ManifestType: 'installer',
    });

    expect(parse(read('ada.promptrun.locale.en-US.yaml'))).toMatchObject({
      ShortDescription: 'Runs: "prompts"',
    });
    expect(parse(read('ada.promptrun.yaml'))).toMatchObject({ ManifestType: 'version' });
  });

  it('invent no address while the owner has named none', () => {
    const { read, stderr } = manifests({});
    expect(stderr).toContain('package.json names no repository');
    expect(read('promptrun.json')).toContain('https://github.com/OWNER/promptrun');
  });

  it.each([
    ['a line that is not a checksum', ['nonsense'], '1.2.3', '"nonsense" is not a checksum'],
    ['a release without Windows', SUMS.slice(0, 4), '1.2.3', 'has no archive for windows-x64'],
    ['something else than a version', SUMS, '../1', '../1 is not a version'],
  ])('are not made of %s', (_, sums, version, message) => {
    const { status, stderr, names } = manifests(NAMED, sums, version);
    expect([status, names]).toEqual([1, []]);
    expect(stderr).toContain(message);
  });
});
