import { createHash } from 'node:crypto';
import { type FileContent, writeUnderFreeName } from '../../../files/writing/write-file.ts';

export interface WrittenFile {
  /** The file's final name. */
  readonly name: string;
  readonly size: number;
  /** The digest in hexadecimal. */
  readonly sha256: string;
}

const BEGINNING_BYTES = 4100;

/**
 * Writes a file whole or not at all. An existing file is kept, and the new one gets a suffix,
 * unless `force`.
 *
 * @param chooseName returns the name; called with the first bytes (at most 4100)
 */
export async function writeWhole(
  directory: string,
  chooseName: (beginning: Uint8Array) => string | Promise<string>,
  content: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  { force }: { readonly force: boolean },
): Promise<WrittenFile> {
  const hash = createHash('sha256');
  let size = 0;
  let firstBytes: Uint8Array = new Uint8Array();
  const writeContent: FileContent = async file => {
    for await (const chunk of content) {
      if (firstBytes.length < BEGINNING_BYTES) {
        firstBytes = Buffer.concat([
          firstBytes,
          chunk.subarray(0, BEGINNING_BYTES - firstBytes.length),
        ]);
      }

      hash.update(chunk);
      size += chunk.length;
      await file.appendFile(chunk);
    }
  };

  const name = await writeUnderFreeName(
    { folder: directory, name: '.' },
    {
      chooseName: () => chooseName(firstBytes),
      content: writeContent,
      ifTaken: force ? 'replace' : 'suffix',
    },
  );
  return { name, size, sha256: hash.digest('hex') };
}
