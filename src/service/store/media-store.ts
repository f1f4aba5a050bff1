import type { Db } from './prepared.ts';
import type { Writer } from './sqlite/writer.ts';

/** A generated picture or video whose bytes are in a file of its own. */
export interface StoredMedia {
  id: string;
  runId: string;
  mediaType: string;
  size: number;
  createdAt: number;
}

export interface MediaStore {
  find(id: string): Promise<StoredMedia | undefined>;
  /** Forgets what was made before `time` (milliseconds) and gives its ids. */
  forgetBefore(time: number): Promise<string[]>;
}

export function mediaStore(db: Db, writer: Writer): MediaStore {
  return {
    find: id => db.selectFrom('media').selectAll().where('id', '=', id).executeTakeFirst(),
    forgetBefore: async time => {
      const old = await db.selectFrom('media').select('id').where('createdAt', '<', time).limit(1).execute();
      if (old.length === 0) return [];
      const gone = await writer.write(db =>
        db.deleteFrom('media').where('createdAt', '<', time).returning('id').execute(),
      );
      return gone.map(row => row.id);
    },
  };
}
