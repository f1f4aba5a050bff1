import { existsSync, readFileSync } from 'node:fs';
import {
  readInstalledText,
  resolveInstalledFile,
} from '../../../files/installed/installed-file.ts';
import { DIGESTS_FILE, withUnpackedFile } from '../../../files/installed/unpacked-file.ts';

/**
 * Loads the binding of the packaged SQLite for this platform, which the package ships compressed.
 *
 * @throws {Error} if there is none, or if it can't be unpacked or loaded
 */
export default function loadPackedBinding(): unknown {
  const name = `${process.platform}-${process.arch}${existsSync('/etc/alpine-release') ? '-musl' : ''}`;
  const digests = JSON.parse(readInstalledText(`dist/prebuilds/${DIGESTS_FILE}`)) as Readonly<
    Record<string, string>
  >;
  const digest = digests[name];
  if (digest === undefined) throw new Error('there is no binary for this platform');

  const unpack = (): Buffer => {
    const { brotliDecompressSync } = process.getBuiltinModule('node:zlib'); // 2 ms that later starts do without
    return brotliDecompressSync(readFileSync(resolveInstalledFile(`dist/prebuilds/${name}.br`)));
  };

  const module: { exports: unknown } = { exports: {} };
  withUnpackedFile({ name: 'sqlite.node', digest, read: unpack }, file =>
    process.dlopen(module, file),
  );
  return module.exports;
}
