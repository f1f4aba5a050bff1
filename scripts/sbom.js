// Prints the package's bill of materials as CycloneDX JSON: the packages in the bundles and those installed beside them
// (`npm run --silent sbom > sbom.cdx.json`).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeBundles } from './bundles.js';
import { bundledPackages } from './notices.js';

const readJson = file => JSON.parse(readFileSync(file, 'utf8'));
const own = readJson('package.json');
const locked = readJson('package-lock.json').packages;

const outdir = mkdtempSync(path.join(tmpdir(), 'promptrun-sbom-'));
const bundled = bundledPackages(await writeBundles(outdir)).map(({ directory }) =>
  relativeName(directory),
);
rmSync(outdir, { recursive: true });
const beside = Object.keys(locked).filter(
  name => name !== '' && !locked[name].dev && !bundled.includes(name),
);

const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      ...component(own.name, own),
      'bom-ref': `${own.name}@${own.version}`,
      type: 'application',
    },
  },
  components: [...bundled, ...beside]
    .sort((one, other) => (one < other ? -1 : 1))
    .map(name => lockedComponent(name)),
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

function relativeName(directory) {
  return path.relative(process.cwd(), directory).split(path.sep).join('/');
}

function lockedComponent(place) {
  const entry = locked[place];
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return {
    ...component(name, entry),
    type: 'library',
    scope: entry.optional && !bundled.includes(place) ? 'optional' : 'required',
    hashes: toHashes(entry.integrity),
  };
}

function component(name, { version, license }) {
  const [scope, plain] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const url = `pkg:npm/${scope ? `${encodeURIComponent(scope)}/` : ''}${plain}@${version}`;
  return {
    'bom-ref': `${name}@${version}`,
    ...(scope && { group: scope }),
    name: plain,
    version,
    purl: url,
    licenses: license
      ? [/ OR |[()]/.test(license) ? { expression: license } : toLicence(license)]
      : [],
  };
}

/** Names that are not SPDX ids are given as they are. */
function toLicence(license) {
  return { license: /^[\w.+-]+$/.test(license) ? { id: license } : { name: license } };
}

function toHashes(integrity) {
  const [, algorithm, digest] = /^sha(512|256|1)-(.+)$/.exec(integrity ?? '') ?? [];
  return digest
    ? [{ alg: `SHA-${algorithm}`, content: Buffer.from(digest, 'base64').toString('hex') }]
    : [];
}
