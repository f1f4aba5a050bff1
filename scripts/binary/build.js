// Makes the single executable of this platform from the built package (`npm run build:binary`): Node's own, with the
// files of the package as its assets. `node scripts/binary/build.js <folder>` makes it elsewhere than in binary/.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { inject } from 'postject';
import { rolldown } from 'rolldown';
import { CHECKSUM_BYTES } from '../../bin/code-cache.js';
import { FONT_FILE, findPackageDirectory } from '../bundles.js';
import { findBaseNode } from './base-node.js';

const SEA_FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const FUNCTION_START = '(function (exports, require, module, __filename, __dirname) {';
const FUNCTION_END = '\n})';

/** Files that an executable lacks: SQLite is Node's own there, and nobody imports its library. */
const EXCLUDED_PATHS = new Set([
  'dist/prebuilds',
  'dist/types',
  'dist/library',
  'dist/index.js',
  'dist/compiled',
]);

const outdir = path.resolve(process.argv[2] ?? 'binary');
const target = path.join(outdir, process.platform === 'win32' ? 'promptrun.exe' : 'promptrun');
const node = findBaseNode();
// Below node_modules, so that the copy of the package finds what npm installed.
mkdirSync('node_modules/.cache', { recursive: true });
const workFolder = mkdtempSync(path.resolve('node_modules/.cache/binary-'));
try {
  await build();
} finally {
  rmSync(workFolder, { recursive: true, force: true });
}

async function build() {
  const packageCopy = copyPackage();
  execFileSync(node, [path.resolve('scripts/binary/compile.cjs'), packageCopy], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { HOME: path.join(workFolder, 'home') },
  });
  const main = await bundleMain();
  const nativeParts = findNativeParts();
  const fontName = `dist/assets/${path.basename(FONT_FILE)}`;
  const digests = digestFiles({ ...nativeParts, [fontName]: path.join(packageCopy, fontName) });
  const assets = {
    ...collectFiles(packageCopy),
    ...writeScriptAssets(packageCopy),
    ...nativeParts,
    'binary.cjs': main,
    'digests.json': writeAsset('digests.json', JSON.stringify(digests)),
  };
  const blob = path.join(workFolder, 'blob');
  const config = {
    main,
    output: blob,
    assets,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  };
  execFileSync(
    node,
    ['--experimental-sea-config', writeAsset('sea.json', JSON.stringify(config))],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  await writeExecutable(readFileSync(blob));
}

function copyPackage() {
  const packageCopy = path.join(workFolder, 'package');
  for (const part of ['bin', 'completions', 'docs', 'dist', 'package.json', 'LICENSE']) {
    cpSync(part, path.join(packageCopy, part), {
      recursive: true,
      filter: file => !EXCLUDED_PATHS.has(file.split(path.sep).join('/')),
    });
  }
  return packageCopy;
}

/** Bundles the executable's own main script. */
async function bundleMain() {
  const bundle = await rolldown({
    input: 'src/binary.ts',
    platform: 'node',
    transform: { target: 'node24' },
  });
  const file = path.join(workFolder, 'binary.cjs');
  await bundle.write({ file, format: 'cjs', minify: true });
  return file;
}

/** Returns the files that the command reads besides its scripts, by their names in the package. */
function collectFiles(packageCopy) {
  const names = listFiles(packageCopy).filter(name =>
    /^(?:completions|docs)\/[\w.-]+$|^dist\/(?!.*\.cjs$)/.test(name),
  );
  return Object.fromEntries(
    [...names, 'LICENSE'].map(name => [name, path.join(packageCopy, name)]),
  );
}

/** Writes the scripts as functions, with the code that V8 compiled for them. Returns the paths by asset. */
function writeScriptAssets(packageCopy) {
  const compiledNames = new Map(
    listFiles(packageCopy).flatMap(name =>
      name.endsWith('.v8') ? [[path.basename(name), name]] : [],
    ),
  );
  const assets = {};
  for (const name of listFiles(path.join(packageCopy, 'dist')).filter(file =>
    file.endsWith('.cjs'),
  )) {
    const source = readFileSync(path.join(packageCopy, 'dist', name));
    assets[`script/${name}`] = writeAsset(`script/${name}`, wrapInFunction(source));
    const compiledName = compiledNames.get(`${path.basename(name)}.v8`);
    if (compiledName === undefined) continue;
    // bin/code-cache.js appends its checksums.
    const bytes = readFileSync(path.join(packageCopy, compiledName));
    assets[`compiled/${name}`] = writeAsset(`compiled/${name}`, bytes.subarray(0, -CHECKSUM_BYTES));
  }
  const resvg = readFileSync(path.join(findPackageDirectory('@resvg/resvg-js'), 'index.js'));
  assets['script/@resvg/resvg-js'] = writeAsset('script/resvg', wrapInFunction(resvg));
  return assets;
}

function wrapInFunction(source) {
  return `${FUNCTION_START}${source}${FUNCTION_END}`;
}

/** Returns the native parts for this platform, by their names in the executable. */
function findNativeParts() {
  const { platform, arch } = process;
  const suffix = { linux: '-gnu', win32: '-msvc' }[platform] ?? '';
  const binary = `${platform}-${arch}${suffix}`;
  return {
    'native/resvgjs.node': path.join(
      findPackageDirectory(`@resvg/resvg-js-${binary}`),
      `resvgjs.${binary}.node`,
    ),
    'native/keyring.node': path.join(
      findPackageDirectory(`@napi-rs/keyring-${binary}`),
      `keyring.${binary}.node`,
    ),
  };
}

function digestFiles(files) {
  const digest = file => createHash('sha256').update(readFileSync(file)).digest('hex');
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, digest(file)]));
}

/** Writes the executable completely or not at all, and never over one that is running. */
async function writeExecutable(blob) {
  mkdirSync(outdir, { recursive: true });
  const tempFile = `${target}.part`;
  try {
    copyFileSync(node, tempFile);
    chmodSync(tempFile, 0o755);
    if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', tempFile]);
    await inject(tempFile, 'NODE_SEA_BLOB', blob, {
      sentinelFuse: SEA_FUSE,
      machoSegmentName: 'NODE_SEA',
    });
    if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', tempFile]);
    renameSync(tempFile, target);
  } finally {
    rmSync(tempFile, { force: true });
  }
}

/** Writes an asset below the work folder, and returns its path. */
function writeAsset(name, content) {
  const file = path.join(workFolder, 'assets', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Returns the files below a folder, with slashes. */
function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry =>
      path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'),
    );
}
