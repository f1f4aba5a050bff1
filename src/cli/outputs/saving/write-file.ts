import { createHash } from 'node:crypto';
import { type FileContent, writeUnderFreeName } from '../../../files/writing/write-file.ts';

export interface WrittenFile {
  /** The file's final name. */
  readonly name: string;
  readonly size: number;
  /** The digest in hexadecimal. */
  readonly sha256: string;
}

/** Number of bytes that show a file's type. */
const HEAD_BYTES = 4100;

/**
 * Writes a file whole or not at all. An existing file is kept, and the new one gets a suffix,
 * unless `force`.
 *
 * @param chooseName returns the name; called with the first bytes (at most 4100)
 */
export async function writeWhole(
  directory: string,
  chooseName: (head: Uint8Array) => string | Promise<string>,
  content: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  { force }: { readonly force: boolean },
): Promise<WrittenFile> {
  const hash = createHash('sha256');
  let size = 0;
  let head: Uint8Array = new Uint8Array();
  const writeContent: FileContent = async file => {
    for await (const chunk of content) {
      if (head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
      }

      hash.update(chunk);
      size += chunk.length;
      await file.appendFile(chunk);
    }
  };

  const name = await writeUnderFreeName(
    { folder: directory, name: '.' },
    {
      chooseName: () => chooseName(head),
      content: writeContent,
      ifTaken: force ? 'replace' : 'suffix',
    },
  );
  return { name, size, sha256: hash.digest('hex') };
}
