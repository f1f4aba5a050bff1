import type { Db, Writer } from './queries.ts';

/** A generated picture or video whose bytes are kept apart. */
export interface StoredMedia {
  id: string;
  runId: string;
  mediaType: string;
  size: number;
  createdAt: number;
}

/** What the bytes that are kept apart are found by. */
type ForgottenMedia = Pick<StoredMedia, 'id' | 'mediaType'>;

export interface MediaStore {
  find(id: string): Promise<StoredMedia | undefined>;
  /** Forgets what was made before `time` (milliseconds), gives its space back to its users, and gives what that was. */
  forgetBefore(time: number): Promise<ForgottenMedia[]>;
}

export function mediaStore(db: Db, writer: Writer): MediaStore {
  return {
    find: id => db.selectFrom('media').selectAll().where('id', '=', id).executeTakeFirst(),
    forgetBefore: async time => {
      const old = await db.selectFrom('media').select('id').where('createdAt', '<', time).limit(1).execute();
      return old.length === 0 ? [] : await writer.write(db => forgetBefore(db, time));
    },
  };
}

async function forgetBefore(db: Db, time: number): Promise<ForgottenMedia[]> {
  const gone = await db
    .deleteFrom('media')
    .where('createdAt', '<', time)
    .returning(['id', 'mediaType', 'userId', 'size'])
    .execute();
  const bytes = new Map<number, number>();
  for (const { userId, size } of gone) bytes.set(userId, (bytes.get(userId) ?? 0) + size);
  // In one order everywhere, so that two that do this at once don't wait for each other.
  for (const userId of [...bytes.keys()].sort((a, b) => a - b)) {
    await db
      .updateTable('users')
      .set(({ eb }) => ({ mediaBytes: eb('mediaBytes', '-', bytes.get(userId) ?? 0) }))
      .where('id', '=', userId)
      .execute();
  }
  return gone.map(({ id, mediaType }) => ({ id, mediaType }));
}
