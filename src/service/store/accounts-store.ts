import { type Db, prepared, type Writer } from './queries.ts';
import type { Plan } from './tables.ts';

/** A user as found by a key. */
export interface KeyOwner {
  keyId: string;
  userId: number;
  userName: string;
  plan: Plan;
  lastUsedAt: number | null;
}

export interface User {
  id: number;
  name: string;
  plan: Plan;
  credits: number;
}

export interface StoredKey {
  id: string;
  user: string;
  plan: Plan;
  credits: number;
  createdAt: number;
  lastUsedAt: number | null;
}

/** Users, their credits and their keys. */
export interface AccountsStore {
  ownerOf(keyHash: string): Promise<KeyOwner | undefined>;
  user(id: number): Promise<User | undefined>;
  userNamed(name: string): Promise<User | undefined>;
  /** Makes the user with `defaults` if there is none, and sets what `changes` names. */
  saveUser(name: string, defaults: Omit<User, 'id' | 'name'>, changes?: UserChanges): Promise<User>;
  /** Adds a key unless the user has `limit` already. */
  addKey(
    key: { id: string; hash: string; userId: number; createdAt: number },
    limit: number,
  ): Promise<boolean>;
  keys(): Promise<StoredKey[]>;
  /** False if there was no such key. */
  removeKey(id: string): Promise<boolean>;
  noteUse(keyId: string, at: number): Promise<void>;
}

export interface UserChanges {
  plan?: Plan | undefined;
  credits?: number | undefined;
}

const USER_COLUMNS = ['id', 'name', 'plan', 'credits'] as const;

export function accountsStore(db: Db, writer: Writer): AccountsStore {
  const ownerByHash = prepared<{ hash: string }>()(db, (db, { hash }) =>
    db
      .selectFrom('keys')
      .innerJoin('users', 'users.id', 'keys.userId')
      .select(['keys.id as keyId', 'userId', 'users.name as userName', 'plan', 'lastUsedAt'])
      .where('hash', '=', hash),
  );
  const userById = prepared<{ id: number }>()(db, (db, { id }) =>
    db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id),
  );
  return {
    ownerOf: async hash => (await ownerByHash(db, { hash })).rows[0],
    user: async id => (await userById(db, { id })).rows[0],
    userNamed: name => userNamed(db, name).executeTakeFirst(),
    saveUser: (name, defaults, changes = {}) => writer.write(db => saveUser(db, name, defaults, changes)),
    addKey: (key, limit) =>
      writer.write(async db => {
        // Adding another key for the same user waits here until this one is counted.
        await db
          .updateTable('users')
          .set(({ ref }) => ({ name: ref('name') }))
          .where('id', '=', key.userId)
          .execute();
        const keys = await db.selectFrom('keys').select('id').where('userId', '=', key.userId).execute();
        if (keys.length >= limit) return false;
        await db
          .insertInto('keys')
          .values({ ...key, lastUsedAt: null })
          .execute();
        return true;
      }),
    keys: () =>
      db
        .selectFrom('keys')
        .innerJoin('users', 'users.id', 'keys.userId')
        .select(['keys.id', 'users.name as user', 'plan', 'credits', 'createdAt', 'lastUsedAt'])
        .orderBy('createdAt')
        .orderBy('keys.id')
        .execute(),
    removeKey: async id => {
      const gone = await writer.write(db => db.deleteFrom('keys').where('id', '=', id).executeTakeFirst());
      return gone.numDeletedRows > 0n;
    },
    noteUse: async (keyId, at) => {
      await writer.write(db =>
        db.updateTable('keys').set({ lastUsedAt: at }).where('id', '=', keyId).execute(),
      );
    },
  };
}

function userNamed(db: Db, name: string) {
  return db.selectFrom('users').select(USER_COLUMNS).where('name', '=', name);
}

async function saveUser(
  db: Db,
  name: string,
  defaults: Omit<User, 'id' | 'name'>,
  changes: UserChanges,
): Promise<User> {
  const user = await userNamed(db, name).executeTakeFirst();
  const { plan, credits } = user ?? defaults;
  const wanted = { plan: changes.plan ?? plan, credits: changes.credits ?? credits };
  if (!user) return await insertUser(db, { name, ...wanted });
  if (wanted.plan !== plan || wanted.credits !== credits) {
    await db.updateTable('users').set(wanted).where('id', '=', user.id).execute();
  }
  return { ...user, ...wanted };
}

/** Another process may make the user at the same time: then that one's is taken. */
async function insertUser(db: Db, user: Omit<User, 'id'>): Promise<User> {
  const made = await db
    .insertInto('users')
    .values(user)
    .onConflict(conflict => conflict.column('name').doNothing())
    .returning(USER_COLUMNS)
    .executeTakeFirst();
  return made ?? (await userNamed(db, user.name).executeTakeFirstOrThrow());
}
