// The licences of everything that the bundles contain, from the packages themselves.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The licences that may be shipped; any other stops the build, so that somebody looks. */
const ALLOWED_LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MPL-2.0',
]);

/** Licences of packages that name theirs in their own words, after a look at the text. */
const REVIEWED_LICENCES = { 'dejavu-fonts-ttf': 'Bitstream-Vera' };

/** Code that is compiled into packages, and has no package of its own to read. */
const COMPILED_IN_BY_PACKAGE = {
  undici: [
    {
      name: 'llhttp',
      version: '9 (compiled into undici)',
      licence: 'MIT',
      source: 'https://github.com/nodejs/llhttp',
      by: 'Fedor Indutny, 2018',
    },
  ],
};

/** Returns the packages to which files belong, each once, sorted by name. */
export function listBundledPackages(files) {
  const directories = new Set(
    files.map(findInnermostPackage).filter(directory => directory !== undefined),
  );
  const packages = new Map(
    [...directories].map(readPackage).map(one => [`${one.name}@${one.version}`, one]),
  );
  return [...packages.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the text of THIRD-PARTY-NOTICES. */
export function formatNotices(packages) {
  const compiledIn = packages.flatMap(({ name }) => COMPILED_IN_BY_PACKAGE[name] ?? []);
  const allPackages = [...packages, ...compiledIn];
  return [INTRODUCTION, ...allPackages.map(one => formatNotice(one, allPackages))].join(
    `\n${'-'.repeat(80)}\n\n`,
  );
}

const INTRODUCTION = `The files of this package contain the following third-party packages, unchanged but for bundling and minification.
Their source is at the addresses given and on the npm registry, under the names and versions given.
`;

/** Returns the innermost `node_modules/name` or `node_modules/@scope/name` of a file. */
function findInnermostPackage(file) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(file)?.[0];
}

function readPackage(directory) {
  const { name, version, licenses, repository, homepage, author, ...rest } = JSON.parse(
    readFileSync(path.join(directory, 'package.json'), 'utf8'),
  );
  const license = rest.license ?? licenses?.[0]?.type;
  if (
    !(name in REVIEWED_LICENCES) &&
    !splitLicences(license).some(one => ALLOWED_LICENCES.has(one))
  ) {
    throw new Error(
      `${name}@${version} has the licence ${license}, which scripts/notices.js does not list`,
    );
  }
  const source = (typeof repository === 'string' ? repository : repository?.url) ?? homepage ?? '';
  const by = typeof author === 'string' ? author : author?.name;
  const text = readLicenceText(directory);
  return {
    directory,
    name,
    version,
    licence: REVIEWED_LICENCES[name] ?? license,
    source: source.replace(/^git\+/, ''),
    by,
    text,
  };
}

/** Returns the licences in an expression such as `(MIT OR CC0-1.0)`. */
function splitLicences(license) {
  return String(license)
    .split(/ OR |[()]/)
    .map(one => one.trim());
}

function readLicenceText(directory) {
  const texts = readdirSync(directory)
    .filter(file => /^(licen[sc]e|copying|notice)/i.test(file))
    .map(file => path.join(directory, file))
    .filter(file => existsSync(file))
    .map(file => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim());
  return texts.length > 0 ? texts.join('\n\n') : undefined;
}

function formatNotice({ name, version, licence, source, by, text }, all) {
  const head = `${name} ${version}\nLicence: ${licence}\n${source ? `Source: ${source}\n` : ''}`;
  const sibling = all.find(
    other => other.source === source && other.licence === licence && other.text,
  );
  return `${head}\n${text ?? sibling?.text ?? buildStandardText(licence, by ?? `the authors of ${name}`)}\n`;
}

/** Returns the licence of packages that name MIT and have no copy of it: ours with another holder of the rights. */
function buildStandardText(licence, holder) {
  if (licence !== 'MIT') {
    throw new Error(`a package of ${holder} has no copy of its licence, ${licence}`);
  }
  return readFileSync('LICENSE', 'utf8')
    .trim()
    .replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
}
