// Writes the manifests of brew, scoop and winget from the checksums of a release:
// `npm run release:manifests -- <SHA256SUMS> <version> <folder>`. The checksums contain the names of the archives.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [sumsFile, versionOrTag, folder] = process.argv.slice(2);
if (folder === undefined) {
  throw new Error('usage: npm run release:manifests -- <SHA256SUMS> <version> <folder>');
}
const version = versionOrTag.replace(/^v/, '');
if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
  throw new Error(`${versionOrTag} is not a version`);
}
const { description, license, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const homepage = toHomepageUrl(repository);
const owner = homepage.split('/').at(-2);
const archives = parseArchives(readFileSync(sumsFile, 'utf8'));

mkdirSync(folder, { recursive: true });
const manifests = {
  'promptrun.rb': buildFormula(),
  'promptrun.json': buildScoopManifest(),
  ...buildWingetManifests(),
};
for (const [name, text] of Object.entries(manifests)) writeFileSync(path.join(folder, name), text);

function toHomepageUrl(declaredRepository) {
  const url = typeof declaredRepository === 'string' ? declaredRepository : declaredRepository?.url;
  const address = /^(?:git\+)?https:\/\/(?<rest>[\w.-]+\/[\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(
    url ?? '',
  )?.groups?.rest;
  if (address !== undefined) return `https://${address}`;
  process.stderr.write(
    "warning: package.json names no repository as https://<host>/<owner>/<name>; the manifests say OWNER, and can't be published so\n",
  );
  return 'https://github.com/OWNER/promptrun';
}

/** Returns the URLs and checksums of the archives, by platform and architecture. */
function parseArchives(checksums) {
  const archivesByPlatform = new Map();
  for (const line of checksums.split(/\r?\n/).filter(text => text.trim() !== '')) {
    const [, hash, file] = /^([0-9a-f]{64}) [ *](?:\.\/)?([\w.-]+)$/i.exec(line) ?? [];
    if (hash === undefined) {
      throw new Error(`${sumsFile}: "${line}" is not a checksum and the name of a file`);
    }
    const [, platform, arch] =
      /[-_.](linux|darwin|macos|windows|win32|win)[-_.](x64|x86_64|amd64|arm64|aarch64)\.(?:tar\.xz|zip)$/.exec(
        file,
      ) ?? [];
    if (platform === undefined) continue;
    archivesByPlatform.set(
      `${toPlatformName(platform)}-${/^a.*(?:rm|rch)/.test(arch) ? 'arm64' : 'x64'}`,
      {
        url: `${homepage}/releases/download/v${version}/${file}`,
        hash: hash.toLowerCase(),
      },
    );
  }
  return archivesByPlatform;
}

function toPlatformName(name) {
  if (name.startsWith('win')) return 'windows';
  return name === 'macos' ? 'darwin' : name;
}

/** Returns the archive for a platform. @throws if the release has none */
function requireArchive(platform) {
  const archive = archives.get(platform);
  if (archive === undefined) throw new Error(`${sumsFile} has no archive for ${platform}`);
  return archive;
}

function buildFormula() {
  const systems = [
    formatSystemBlock('on_macos', 'darwin'),
    formatSystemBlock('on_linux', 'linux'),
  ].filter(Boolean);
  if (systems.length === 0) throw new Error(`${sumsFile} has no archive for macOS or Linux`);
  return `class Promptrun < Formula
  desc "Run, test and compare prompts from a terminal, a script or CI"
  homepage "${homepage}"
  version "${version}"
  license "${license}"

${systems.join('\n\n')}

  def install
    bin.install "promptrun"
    generate_completions_from_executable(bin/"promptrun", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/promptrun --version").strip
  end
end
`;
}

/** Returns the part of the formula for a system; empty if the release has no archive for it. */
function formatSystemBlock(block, platform) {
  const parts = [
    formatArchiveBlock('on_arm', `${platform}-arm64`),
    formatArchiveBlock('on_intel', `${platform}-x64`),
  ].filter(Boolean);
  return parts.length === 0 ? '' : `  ${block} do\n${parts.join('\n')}\n  end`;
}

function formatArchiveBlock(block, platform) {
  const archive = archives.get(platform);
  if (archive === undefined) return '';
  return `    ${block} do\n      url "${archive.url}"\n      sha256 "${archive.hash}"\n    end`;
}

function buildScoopManifest() {
  const { url, hash } = requireArchive('windows-x64');
  const autoupdateUrl = url.replaceAll(version, '$version');
  const manifest = {
    version,
    description,
    homepage,
    license,
    architecture: { '64bit': { url, hash } },
    bin: 'promptrun.exe',
    checkver: { github: homepage },
    autoupdate: {
      architecture: { '64bit': { url: autoupdateUrl } },
      hash: { url: '$baseurl/SHA256SUMS' },
    },
  };
  return `${JSON.stringify(manifest, null, 4)}\n`;
}

/** Returns the manifest for winget, in YAML, whose double quotes are those of JSON. */
function buildWingetManifests() {
  const { url, hash } = requireArchive('windows-x64');
  const id = `${owner}.promptrun`;
  const file = (type, lines) =>
    [
      `# yaml-language-server: $schema=https://aka.ms/winget-manifest.${type}.1.9.0.schema.json`,
      `PackageIdentifier: ${id}`,
      `PackageVersion: ${JSON.stringify(version)}`,
      ...lines,
      `ManifestType: ${type}`,
      'ManifestVersion: 1.9.0',
      '',
    ].join('\n');
  return {
    [`${id}.yaml`]: file('version', ['DefaultLocale: en-US']),
    [`${id}.installer.yaml`]: file('installer', [
      'InstallerType: zip',
      'NestedInstallerType: portable',
      'NestedInstallerFiles:',
      '  - RelativeFilePath: promptrun.exe',
      '    PortableCommandAlias: promptrun',
      'Installers:',
      '  - Architecture: x64',
      `    InstallerUrl: ${JSON.stringify(url)}`,
      `    InstallerSha256: "${hash.toUpperCase()}"`,
    ]),
    [`${id}.locale.en-US.yaml`]: file('defaultLocale', [
      'PackageLocale: en-US',
      `Publisher: ${JSON.stringify(owner)}`,
      'PackageName: promptrun',
      `PackageUrl: ${JSON.stringify(homepage)}`,
      `License: ${JSON.stringify(license)}`,
      `ShortDescription: ${JSON.stringify(description)}`,
    ]),
  };
}
