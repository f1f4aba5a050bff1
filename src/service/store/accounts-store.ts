import { type Db, prepared, type Writer } from './queries.ts';
import type { Plan } from './tables.ts';

/** A user as found by a key. */
export interface KeyOwner {
  keyId: string;
  userId: number;
  userName: string;
  plan: Plan;
  lastUsedAt: number | null;
  /** 1 if the holder of the key may publish. */
  author: number;
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
  /** 1 if its holder may publish. */
  author: number;
}

/** A user as the operator sees one. */
export interface Account {
  user: string;
  plan: Plan;
  credits: number;
  /** How many they have. */
  keys: number;
}

/** Users, their credits and their keys. */
export interface AccountsStore {
  ownerOf(keyHash: string): Promise<KeyOwner | undefined>;
  user(id: number): Promise<User | undefined>;
  userNamed(name: string): Promise<User | undefined>;
  /** Makes the user if there is none; one who is there stays as they are, and `made` is false. */
  ensureUser(name: string, user: Omit<User, 'id' | 'name'>): Promise<{ user: User; made: boolean }>;
  /** False if there is no such user, or fewer credits would be left than none; nothing changes then. */
  changeUser(name: string, changes: UserChanges): Promise<boolean>;
  /** Every user, or the one of this name. */
  accounts(name?: string): Promise<Account[]>;
  /** Adds a key unless the user has `limit` already. */
  addKey(
    key: { id: string; hash: string; userId: number; createdAt: number; author: number },
    limit: number,
  ): Promise<boolean>;
  keys(): Promise<StoredKey[]>;
  /** False if there was no such key. */
  removeKey(id: string): Promise<boolean>;
  noteUse(keyId: string, at: number): Promise<void>;
}

export interface UserChanges {
  plan?: Plan | undefined;
  /** So many from now on, or so many more than now. */
  credits?: { to: number } | { by: number } | undefined;
}

const USER_COLUMNS = ['id', 'name', 'plan', 'credits'] as const;

export function accountsStore(db: Db, writer: Writer): AccountsStore {
  const ownerByHash = prepared<{ hash: string }>()(db, (db, { hash }) =>
    db
      .selectFrom('keys')
      .innerJoin('users', 'users.id', 'keys.userId')
      .select(['keys.id as keyId', 'userId', 'users.name as userName', 'plan', 'lastUsedAt', 'author'])
      .where('hash', '=', hash),
  );
  const userById = prepared<{ id: number }>()(db, (db, { id }) =>
    db.selectFrom('users').select(USER_COLUMNS).where('id', '=', id),
  );
  return {
    ownerOf: async hash => (await ownerByHash(db, { hash })).rows[0],
    user: async id => (await userById(db, { id })).rows[0],
    userNamed: name => userNamed(db, name).executeTakeFirst(),
    ensureUser: (name, user) => writer.write(db => ensureUser(db, { name, ...user })),
    changeUser: (name, changes) => writer.write(db => changeUser(db, name, changes)),
    accounts: name =>
      db
        .selectFrom('users')
        .leftJoin('keys', 'keys.userId', 'users.id')
        .select(({ fn }) => ['users.name as user', 'plan', 'credits', fn.count<number>('keys.id').as('keys')])
        .$if(name !== undefined, query => query.where('users.name', '=', name ?? ''))
        .groupBy(['users.id', 'users.name', 'plan', 'credits'])
        .orderBy('users.id')
        .execute(),
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
        .select(['keys.id', 'users.name as user', 'plan', 'credits', 'createdAt', 'lastUsedAt', 'author'])
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

/** Another process may make the user at the same time: then that one's is taken. */
async function ensureUser(db: Db, user: Omit<User, 'id'>): Promise<{ user: User; made: boolean }> {
  const made = await db
    .insertInto('users')
    .values(user)
    .onConflict(conflict => conflict.column('name').doNothing())
    .returning(USER_COLUMNS)
    .executeTakeFirst();
  return {
    user: made ?? (await userNamed(db, user.name).executeTakeFirstOrThrow()),
    made: made !== undefined,
  };
}

async function changeUser(db: Db, name: string, { plan, credits }: UserChanges): Promise<boolean> {
  const more = credits && 'by' in credits ? credits.by : 0;
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set(({ eb, ref }) => ({
      plan: plan ?? ref('plan'),
      credits: credits && 'to' in credits ? credits.to : eb('credits', '+', more),
    }))
    .where('name', '=', name)
    .where('credits', '>=', -more)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
