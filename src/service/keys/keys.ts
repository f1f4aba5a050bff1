import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { keyHash } from '../http/auth.ts';
import type { StoredKey, User, UserChanges } from '../store/accounts-store.ts';
import type { Store } from '../store/store.ts';

/** The user that keys belong to where none is named. */
export const LOCAL_USER = 'local';
/** What a user starts with. */
const NEW_USER = { plan: 'pro', credits: 1_000_000 } as const;
/** Keys a user may have. */
const MAX_KEYS = 10;
const MAX_NAME_LENGTH = 64;

/** What can't be done with a key. The message says what and why. */
export class KeyError extends Error {
  readonly code = 'INVALID_KEY_REQUEST';
}

/** A key that no store has seen. */
export function newKeyText(): string {
  return `pr_${randomBytes(32).toString('base64url')}`;
}

/** The user `local`, made on the first start. */
export async function localUser(store: Store): Promise<User> {
  return (
    (await store.accounts.userNamed(LOCAL_USER)) ?? (await store.accounts.saveUser(LOCAL_USER, NEW_USER))
  );
}

/**
 * Makes a key. The user is made where there is none; a plan or credits that are given are set for it either way.
 *
 * @throws {KeyError} for a name that is none, credits below 0, or an eleventh key
 */
export async function createKey(
  store: Store,
  clock: Clock,
  { user: name = LOCAL_USER, ...changes }: UserChanges & { user?: string | undefined } = {},
): Promise<StoredKey & { key: string }> {
  checkName(name);
  checkCredits(changes.credits);
  const user = await store.accounts.saveUser(name, NEW_USER, changes);
  const key = newKeyText();
  const row = { id: randomUUID(), hash: keyHash(key), userId: user.id, createdAt: clock.now() };
  if (!(await store.accounts.addKey(row, MAX_KEYS))) {
    throw new KeyError(
      `the user ${name} has ${MAX_KEYS} keys already; revoke one with \`promptrun keys revoke\``,
    );
  }
  const { plan, credits } = user;
  return { id: row.id, user: name, plan, credits, createdAt: row.createdAt, lastUsedAt: null, key };
}

function checkName(name: string): void {
  if (name.length > 0 && name.length <= MAX_NAME_LENGTH && /^[^\p{C}\p{Z}]+$/u.test(name)) return;
  throw new KeyError(`a user's name is 1 to ${MAX_NAME_LENGTH} visible characters without spaces`);
}

function checkCredits(credits: number | undefined): void {
  if (credits === undefined || (Number.isSafeInteger(credits) && credits >= 0)) return;
  throw new KeyError('credits are an integer from 0');
}
