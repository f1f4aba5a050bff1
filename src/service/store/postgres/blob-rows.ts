import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { BlobCollection, Blobs, ByteRange } from '../blobs/blobs.ts';
import type { Db } from '../writer.ts';

/** Bytes that are read and written at a time. */
const BLOB_ROW_BYTES = 512 * 1024;

const WHOLE_BLOB: ByteRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Returns blobs that are rows of parts, so that a read never holds a whole blob in memory. */
export function createBlobRows(db: Db, collection: BlobCollection): Blobs {
  return {
    write: (name, bytes) =>
      db.transaction().execute(async trx => {
        // An empty blob has one part too.
        for (let part = 0; part === 0 || part * BLOB_ROW_BYTES < bytes.byteLength; part += 1) {
          const piece = Buffer.from(
            bytes.subarray(part * BLOB_ROW_BYTES, (part + 1) * BLOB_ROW_BYTES),
          );
          await sql`insert into "blobs" ("collection", "name", "part", "bytes")
            values (${collection}, ${name}, ${part}, ${piece})`.execute(trx);
        }
      }),
    async open(name, range = WHOLE_BLOB) {
      const firstPart = Math.floor(range.from / BLOB_ROW_BYTES);
      const firstBytes = await readPart(db, collection, name, firstPart);
      if (!firstBytes) return undefined;
      const parts = readParts(db, { collection, name, firstPart, firstBytes }, range);
      return Readable.from(parts, { objectMode: false });
    },
    async remove(name) {
      await sql`delete from "blobs" where "collection" = ${collection}
        and ("name" = ${name} or ("name" > ${`${name}/`} and "name" < ${`${name}0`}))`.execute(db);
    },
    async listWrittenBefore(time) {
      const { rows } = await sql<{ name: string }>`
        select distinct split_part("name", '/', 1) as "name" from "blobs"
        where "collection" = ${collection} and "part" = 0
          and "writtenAt" < to_timestamp(${time / 1000})`.execute(db);
      return rows.map(row => row.name);
    },
  };
}

interface PartRead {
  readonly collection: BlobCollection;
  readonly name: string;
  /** The number of the first part that is read, from 0. */
  readonly firstPart: number;
  readonly firstBytes: Buffer;
}

async function* readParts(
  db: Db,
  { collection, name, firstPart, firstBytes }: PartRead,
  { from, to }: ByteRange,
): AsyncGenerator<Buffer> {
  let piece: Buffer | undefined = firstBytes;
  for (let part = firstPart; piece; ) {
    const start = part * BLOB_ROW_BYTES;
    yield piece.subarray(Math.max(0, from - start), to + 1 - start);
    part += 1;
    const isLast: boolean = piece.length < BLOB_ROW_BYTES || part * BLOB_ROW_BYTES > to;
    piece = isLast ? undefined : await readPart(db, collection, name, part);
  }
}

async function readPart(
  db: Db,
  collection: BlobCollection,
  name: string,
  part: number,
): Promise<Buffer | undefined> {
  const { rows } = await sql<{ bytes: Buffer }>`
    select "bytes" from "blobs"
    where "collection" = ${collection} and "name" = ${name} and "part" = ${part}`.execute(db);
  return rows[0]?.bytes;
}
