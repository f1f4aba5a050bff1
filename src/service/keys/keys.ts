import { hash, randomBytes, randomUUID } from 'node:crypto';
import { LOCAL_USER, type Plan } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { Account, StoredKey, User, UserChanges } from '../store/accounts-store.ts';
import type { Store } from '../store/store.ts';

/** What a user starts with. */
const NEW_USER = { plan: 'pro', credits: 1_000_000 } as const;
/** Keys a user may have. */
const MAX_KEYS = 10;
const MAX_NAME_LENGTH = 64;

/** What can't be done with a key. The message says what and why. */
export class KeyError extends Error {
  readonly code = 'INVALID_KEY_REQUEST';
}

/** How a key is kept and looked up: never as it is. */
export function keyHash(key: string): string {
  return hash('sha256', key, 'hex');
}

/** A key that no store has seen. */
export function newKeyText(): string {
  return `pr_${randomBytes(32).toString('base64url')}`;
}

/** The user `local`, made on the first start. */
export async function localUser(store: Store): Promise<User> {
  const user = await store.accounts.userNamed(LOCAL_USER);
  return user ?? (await store.accounts.ensureUser(LOCAL_USER, NEW_USER)).user;
}

export interface NewKey {
  /** Whose key it is; default `local`. */
  readonly user?: string | undefined;
  /** Of a user who is new; one who is there stays as they are. */
  readonly plan?: Plan | undefined;
  readonly credits?: number | undefined;
  /** Whether its holder may publish. */
  readonly author?: boolean | undefined;
}

/**
 * Makes a key, and its user where there is none; `isNewUser` says so.
 *
 * @throws {KeyError} for a name that is none, credits below 0, or an eleventh key
 */
export async function createKey(
  store: Store,
  clock: Clock,
  { user: name = LOCAL_USER, plan, credits, author = false }: NewKey = {},
): Promise<StoredKey & { key: string; isNewUser: boolean }> {
  checkName(name);
  checkCredits(credits);
  const { user, made } = await store.accounts.ensureUser(name, {
    plan: plan ?? NEW_USER.plan,
    credits: credits ?? NEW_USER.credits,
  });
  const key = newKeyText();
  const stored = { id: randomUUID(), createdAt: clock.now(), author: Number(author) };
  const isAdded = await store.accounts.addKey({ ...stored, hash: keyHash(key), userId: user.id }, MAX_KEYS);
  if (!isAdded) {
    throw new KeyError(
      `the user ${name} has ${MAX_KEYS} keys already; revoke one with \`promptrun keys revoke\``,
    );
  }
  const { plan: ownPlan, credits: balance } = user;
  return { ...stored, user: name, plan: ownPlan, credits: balance, lastUsedAt: null, key, isNewUser: made };
}

/**
 * Changes a user; gives how they are then, undefined where there is no such user.
 *
 * @throws {KeyError} for fewer credits than none
 */
export async function changeUser(
  store: Store,
  name: string,
  changes: UserChanges,
): Promise<Account | undefined> {
  const changed = await store.accounts.changeUser(name, changes);
  const [account] = await store.accounts.accounts(name);
  if (changed || !account) return account;
  throw new KeyError(`the user ${name} has ${account.credits} credits: no more can be taken away`);
}

function checkName(name: string): void {
  if (name.length > 0 && name.length <= MAX_NAME_LENGTH && /^[^\p{C}\p{Z}]+$/u.test(name)) return;
  throw new KeyError(`a user's name is 1 to ${MAX_NAME_LENGTH} visible characters without spaces`);
}

function checkCredits(credits: number | undefined): void {
  if (credits === undefined || (Number.isSafeInteger(credits) && credits >= 0)) return;
  throw new KeyError('credits are an integer from 0');
}
