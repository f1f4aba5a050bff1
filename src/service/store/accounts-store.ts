import type { Selectable } from 'kysely';
import type { UserPlan } from '../core/caller.ts';
import type { Tables } from './tables.ts';
import type { Db, Writer } from './writer.ts';

export interface UserChanges {
  plan?: UserPlan | undefined;
  /** Sets the credits, or adds to them. */
  credits?: { to: number } | { by: number } | undefined;
}

type NewUser = Pick<Tables['users'], 'plan' | 'credits'>;

const USER_COLUMNS = ['id', 'name', 'plan', 'credits'] as const;

export type User = NonNullable<Awaited<ReturnType<AccountsStore['findUser']>>>;

/** A user as the operator sees it; `keys` is the number of its keys. */
export type UserSummary = Awaited<ReturnType<AccountsStore['listUsers']>>[number];
export type StoredKey = Awaited<ReturnType<AccountsStore['listKeys']>>[number];

/** Users, their credits and their keys. `author` is 1 for a key that may publish. */
export class AccountsStore {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  findKeyOwner(keyHash: string) {
    return selectKeysWithUsers(this.#db)
      .select([
        'keys.id as keyId',
        'userId',
        'users.name as userName',
        'plan',
        'lastUsedAt',
        'author',
      ])
      .where('hash', '=', keyHash)
      .executeTakeFirst();
  }

  findUser(id: number) {
    return selectUsers(this.#db).where('id', '=', id).executeTakeFirst();
  }

  findUserByName(name: string) {
    return selectUsers(this.#db).where('name', '=', name).executeTakeFirst();
  }

  /** Creates the user. Leaves an existing one unchanged, with `isNew` false. */
  ensureUser(name: string, user: NewUser) {
    return this.#writer.write(trx => ensureUser(trx, { name, ...user }));
  }

  /**
   * Returns false, and changes nothing, if the user doesn't exist or the credits would fall below
   * 0.
   */
  changeUser(name: string, changes: UserChanges) {
    return this.#writer.write(trx => applyUserChanges(trx, name, changes));
  }

  /** Returns all users, or the one with this name. */
  listUsers(name?: string) {
    return this.#db
      .selectFrom('users')
      .leftJoin('keys', 'keys.userId', 'users.id')
      .select(({ fn }) => [
        'users.name as user',
        'plan',
        'credits',
        fn.count<number>('keys.id').as('keys'),
      ])
      .$if(name !== undefined, query => query.where('users.name', '=', name ?? ''))
      .groupBy(['users.id', 'users.name', 'plan', 'credits'])
      .orderBy('users.id')
      .execute();
  }

  /** Adds a key; returns false if the user already has `limit` keys. */
  addKey(key: Omit<Selectable<Tables['keys']>, 'lastUsedAt'>, limit: number) {
    return this.#writer.write(async trx => {
      // Locks the user, so that two keys added at once can't exceed the limit.
      await trx
        .updateTable('users')
        .set(({ ref }) => ({ name: ref('name') }))
        .where('id', '=', key.userId)
        .execute();

      const keys = await trx
        .selectFrom('keys')
        .select('id')
        .where('userId', '=', key.userId)
        .execute();
      if (keys.length >= limit) return false;

      await trx
        .insertInto('keys')
        .values({ ...key, lastUsedAt: null })
        .execute();
      return true;
    });
  }

  listKeys() {
    return selectKeysWithUsers(this.#db)
      .select([
        'keys.id',
        'users.name as user',
        'plan',
        'credits',
        'createdAt',
        'lastUsedAt',
        'author',
      ])
      .orderBy('createdAt')
      .orderBy('keys.id')
      .execute();
  }

  /** Returns false if there was no such key. */
  async removeKey(id: string) {
    const deleted = await this.#writer.write(trx =>
      trx.deleteFrom('keys').where('id', '=', id).executeTakeFirst(),
    );
    return deleted.numDeletedRows > 0n;
  }

  recordKeyUse(keyId: string, usedAt: number) {
    return this.#writer.write(trx =>
      trx.updateTable('keys').set({ lastUsedAt: usedAt }).where('id', '=', keyId).execute(),
    );
  }
}

function selectKeysWithUsers(db: Db) {
  return db.selectFrom('keys').innerJoin('users', 'users.id', 'keys.userId');
}

function selectUsers(db: Db) {
  return db.selectFrom('users').select(USER_COLUMNS);
}

/**
 * Creates a user, or returns the existing one, which another process may create at the same time.
 */
async function ensureUser(db: Db, user: NewUser & { name: string }) {
  const created = await db
    .insertInto('users')
    .values(user)
    .onConflict(conflict => conflict.column('name').doNothing())
    .returning(USER_COLUMNS)
    .executeTakeFirst();
  if (created) return { user: created, isNew: true };

  const existing = selectUsers(db).where('name', '=', user.name);
  return { user: await existing.executeTakeFirstOrThrow(), isNew: false };
}

async function applyUserChanges(
  db: Db,
  name: string,
  { plan, credits }: UserChanges,
): Promise<boolean> {
  const addedCredits = credits && 'by' in credits ? credits.by : 0;
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set(({ eb, ref }) => ({
      plan: plan ?? ref('plan'),
      credits: credits && 'to' in credits ? credits.to : eb('credits', '+', addedCredits),
    }))
    .where('name', '=', name)
    .where('credits', '>=', -addedCredits)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
