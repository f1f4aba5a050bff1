// SQLite for releases of Node that have none or an unsafe one: a binary for each platform, compressed, because most
// machines need none of them. Were the package installed by npm, npm would warn of its install script, which does
// nothing, and bring its sources too.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { findPackageDirectory } from './bundles.js';

const BINARIES_FOLDER = path.join(findPackageDirectory('@photostructure/sqlite'), 'prebuilds');

/** A medium quality: the highest would save another tenth and take half a minute. */
const COMPRESSION = { [constants.BROTLI_PARAM_QUALITY]: 5 };

/** Writes `<platform>-<arch>[-musl].br` for each binary, and their digests as they are unpacked. */
export async function packSqlite(outdir) {
  await mkdir(outdir, { recursive: true });
  const files = (await readdir(BINARIES_FOLDER, { recursive: true }))
    .filter(file => file.endsWith('.node'))
    .sort();
  const digests = await Promise.all(
    files.map(async file => {
      const content = await readFile(path.join(BINARIES_FOLDER, file));
      const name = `${path.dirname(file)}${file.endsWith('.musl.node') ? '-musl' : ''}`;
      await writeFile(
        path.join(outdir, `${name}.br`),
        await promisify(brotliCompress)(content, { params: COMPRESSION }),
      );
      return [name, createHash('sha256').update(content).digest('hex')];
    }),
  );
  await writeFile(path.join(outdir, 'digests.json'), JSON.stringify(Object.fromEntries(digests)));
}
