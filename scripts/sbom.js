// Prints the package's bill of materials as CycloneDX JSON: the packages in the bundles and those installed beside them
// (`npm run --silent sbom > sbom.cdx.json`).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeBundles } from './bundles.js';
import { listBundledPackages } from './notices.js';

const readJson = file => JSON.parse(readFileSync(file, 'utf8'));
const packageJson = readJson('package.json');
const lockedPackages = readJson('package-lock.json').packages;

const outdir = mkdtempSync(path.join(tmpdir(), 'promptrun-sbom-'));
const bundledPaths = listBundledPackages(await writeBundles(outdir)).map(({ directory }) =>
  toRelativeName(directory),
);
rmSync(outdir, { recursive: true });
const installedBeside = Object.keys(lockedPackages).filter(
  name => name !== '' && !lockedPackages[name].dev && !bundledPaths.includes(name),
);

const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      ...toComponent(packageJson.name, packageJson),
      'bom-ref': `${packageJson.name}@${packageJson.version}`,
      type: 'application',
    },
  },
  components: [...bundledPaths, ...installedBeside]
    .sort((one, other) => (one < other ? -1 : 1))
    .map(name => toLockedComponent(name)),
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

function toRelativeName(directory) {
  return path.relative(process.cwd(), directory).split(path.sep).join('/');
}

function toLockedComponent(packagePath) {
  const entry = lockedPackages[packagePath];
  const name = packagePath.slice(packagePath.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return {
    ...toComponent(name, entry),
    type: 'library',
    scope: entry.optional && !bundledPaths.includes(packagePath) ? 'optional' : 'required',
    hashes: toHashes(entry.integrity),
  };
}

function toComponent(name, { version, license }) {
  const [scope, plainName] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const purl = `pkg:npm/${scope ? `${encodeURIComponent(scope)}/` : ''}${plainName}@${version}`;
  return {
    'bom-ref': `${name}@${version}`,
    ...(scope && { group: scope }),
    name: plainName,
    version,
    purl,
    licenses: license
      ? [/ OR |[()]/.test(license) ? { expression: license } : toLicence(license)]
      : [],
  };
}

/** Returns a licence. A name that is not an SPDX id stays as it is. */
function toLicence(license) {
  return { license: /^[\w.+-]+$/.test(license) ? { id: license } : { name: license } };
}

function toHashes(integrity) {
  const [, algorithm, digest] = /^sha(512|256|1)-(.+)$/.exec(integrity ?? '') ?? [];
  return digest
    ? [{ alg: `SHA-${algorithm}`, content: Buffer.from(digest, 'base64').toString('hex') }]
    : [];
}
