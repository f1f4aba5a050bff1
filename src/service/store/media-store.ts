import type { Tables } from './tables.ts';
import type { Db, Writer } from './writer.ts';

/** The record of a generated image or video. Its bytes are a blob. */
export type StoredMedia = Omit<Tables['media'], 'userId'>;

export function createMediaStore(db: Db, writer: Writer) {
  return {
    find: (id: string): Promise<StoredMedia | undefined> =>
      db.selectFrom('media').selectAll().where('id', '=', id).executeTakeFirst(),
    /**
     * Deletes records that were created before a time in milliseconds, releases their space, and
     * returns them.
     */
    deleteBefore: async (time: number) => {
      const oldMedia = await db
        .selectFrom('media')
        .select('id')
        .where('createdAt', '<', time)
        .limit(1)
        .execute();
      return oldMedia.length === 0 ? [] : await writer.write(trx => deleteMediaBefore(trx, time));
    },
  };
}

async function deleteMediaBefore(db: Db, time: number) {
  const expired = await db
    .deleteFrom('media')
    .where('createdAt', '<', time)
    .returning(['id', 'mediaType', 'userId', 'size'])
    .execute();

  // Always in the same order, so that two processes that do this at once don't deadlock.
  expired.sort((a, b) => a.userId - b.userId);
  for (const { userId, size } of expired) await releaseSpace(db, userId, size);
  return expired;
}

/** Subtracts bytes from the space that a user occupies. */
export async function releaseSpace(db: Db, userId: number, bytes: number): Promise<void> {
  await db
    .updateTable('users')
    .set(({ eb }) => ({ mediaBytes: eb('mediaBytes', '-', bytes) }))
    .where('id', '=', userId)
    .execute();
}
