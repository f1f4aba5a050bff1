import type { Tables } from './tables.ts';
import type { Db, Writer } from './writer.ts';

/** A generated picture or video whose bytes are kept apart. */
export type StoredMedia = Omit<Tables['media'], 'userId'>;

export function mediaStore(db: Db, writer: Writer) {
  return {
    find: (id: string): Promise<StoredMedia | undefined> =>
      db.selectFrom('media').selectAll().where('id', '=', id).executeTakeFirst(),
    /** Forgets what was made before `time` (milliseconds), gives its space back to its users, and gives what that was. */
    forgetBefore: async (time: number) => {
      const old = await db.selectFrom('media').select('id').where('createdAt', '<', time).limit(1).execute();
      return old.length === 0 ? [] : await writer.write(db => forgetBefore(db, time));
    },
  };
}

async function forgetBefore(db: Db, time: number) {
  const gone = await db
    .deleteFrom('media')
    .where('createdAt', '<', time)
    .returning(['id', 'mediaType', 'userId', 'size'])
    .execute();
  // In one order everywhere, so that two that do this at once don't wait for each other.
  gone.sort((a, b) => a.userId - b.userId);
  for (const { userId, size } of gone) await giveSpaceBack(db, userId, size);
  return gone;
}

/** Takes bytes off what counts as a user's space. */
export async function giveSpaceBack(db: Db, userId: number, bytes: number): Promise<void> {
  await db
    .updateTable('users')
    .set(({ eb }) => ({ mediaBytes: eb('mediaBytes', '-', bytes) }))
    .where('id', '=', userId)
    .execute();
}
