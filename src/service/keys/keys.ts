import { hash, randomBytes, randomUUID } from 'node:crypto';
import { LOCAL_USER, type UserPlan } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { StoredKey, User, UserChanges, UserSummary } from '../store/accounts-store.ts';
import type { Store } from '../store/store.ts';

const NEW_USER = { plan: 'pro', credits: 1_000_000 } as const;

/** Maximum number of keys of a user. */
const MAX_KEYS_PER_USER = 10;
const MAX_USER_NAME_LENGTH = 64;

/** A key or user can't be created or changed. The message says why. */
export class AccountError extends Error {
  readonly code = 'INVALID_KEY_REQUEST';
}

/** Returns the hash under which a key is stored and looked up. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

export function generateKeyText(): string {
  return `pr_${randomBytes(32).toString('base64url')}`;
}

/** Returns the user `local`, who is created on the first start. */
export async function ensureLocalUser(store: Store): Promise<User> {
  const user = await store.accounts.findUserByName(LOCAL_USER);
  return user ?? (await store.accounts.ensureUser(LOCAL_USER, NEW_USER)).user;
}

export interface NewKeyOptions {
  /** The key's user; default `local`. */
  readonly user?: string | undefined;
  /** The plan of a new user; an existing user keeps their plan. */
  readonly plan?: UserPlan | undefined;
  /** The credits of a new user; an existing user keeps theirs. */
  readonly credits?: number | undefined;
  /** True if the holder may publish; default false. */
  readonly isAuthor?: boolean | undefined;
}

export interface CreatedKey extends StoredKey {
  readonly key: string;
  /** True if its user was created with it. */
  readonly isNewUser: boolean;
}

/**
 * Creates a key, and its user if there is none.
 *
 * @throws {AccountError} for a name that is not valid, credits below 0, or an eleventh key
 */
export async function createKey(
  store: Store,
  clock: Clock,
  { user: name = LOCAL_USER, plan, credits, isAuthor = false }: NewKeyOptions = {},
): Promise<CreatedKey> {
  checkUserName(name);
  checkCredits(credits);
  const { user, isNew } = await store.accounts.ensureUser(name, {
    plan: plan ?? NEW_USER.plan,
    credits: credits ?? NEW_USER.credits,
  });

  const key = generateKeyText();
  const displayedColumns = { id: randomUUID(), createdAt: clock.now(), author: isAuthor ? 1 : 0 };
  const row = { ...displayedColumns, hash: hashKey(key), userId: user.id };
  const isAdded = await store.accounts.addKey(row, MAX_KEYS_PER_USER);
  if (!isAdded) {
    throw new AccountError(
      `the user ${name} has ${MAX_KEYS_PER_USER} keys already; revoke one with \`promptrun keys revoke\``,
    );
  }

  return {
    ...displayedColumns,
    user: name,
    plan: user.plan,
    credits: user.credits,
    lastUsedAt: null,
    key,
    isNewUser: isNew,
  };
}

/**
 * Changes a user and returns the result; undefined if the user doesn't exist.
 *
 * @throws {AccountError} if more credits would be taken away than the user has
 */
export async function changeUser(
  store: Store,
  name: string,
  changes: UserChanges,
): Promise<UserSummary | undefined> {
  const isChanged = await store.accounts.changeUser(name, changes);
  const [account] = await store.accounts.listUsers(name);
  if (!account) return undefined;
  if (isChanged) return account;
  throw new AccountError(
    `the user ${name} has ${account.credits} credits: no more can be taken away`,
  );
}

function checkUserName(name: string): void {
  if (name.length > 0 && name.length <= MAX_USER_NAME_LENGTH && /^[^\p{C}\p{Z}]+$/u.test(name)) {
    return;
  }
  throw new AccountError(
    `a user's name is 1 to ${MAX_USER_NAME_LENGTH} visible characters without spaces`,
  );
}

function checkCredits(credits: number | undefined): void {
  if (credits === undefined || (Number.isSafeInteger(credits) && credits >= 0)) return;
  throw new AccountError('credits are an integer from 0');
}
