import type { IncomingHttpHeaders } from 'node:http';
import {
  ACTION_REQUIRE_HEADER,
  CLI_AGENT_HEADER,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_SUPPORTED,
  RATE_LIMIT_POLICY_HEADER,
} from '../../wire/index.ts';
import { type Caller, SESSION_KEY_ID } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { RateLimiter } from '../core/rate-limiter.ts';
import { tooMany } from '../core/refusal.ts';
import { hashKey } from '../keys/keys.ts';
import type { Store } from '../store/store.ts';
import { ApiError } from './api-error.ts';

export interface AuthOptions {
  store: Store;
  /** The embedded service's key, which is not stored, and its user. */
  sessionKey: { hash: string; userId: number };
  limiter?: RateLimiter | undefined;
  /** Cached callers, for routes that check the key themselves. */
  callers: CallerCache;
  /** The `RateLimit-Policy` header of answers; undefined sends none. */
  ratePolicy?: string | undefined;
  resourcesHash: () => string;
  recordKeyUse: (keyId: string, lastUsedAt: number | null) => void;
}

/** Time for which a caller is cached, in milliseconds. */
const CALLER_CACHE_MS = 10_000;
const MAX_CACHED_CALLERS = 10_000;

/** Precision of a key's last use, in milliseconds. */
const KEY_USE_PRECISION_MS = 60_000;

/**
 * Callers cached for a few seconds by the hashes of their keys, except for those without a plan.
 */
export class CallerCache {
  readonly #callers = new Map<string, { readonly caller: Caller; readonly expiresAt: number }>();

  get(hash: string): Caller | undefined {
    const entry = this.#callers.get(hash);
    return entry && performance.now() < entry.expiresAt ? entry.caller : undefined;
  }

  set(hash: string, caller: Caller): void {
    // A caller that came from this cache keeps its expiry, so that a revoked key stops working.
    if (this.#callers.get(hash)?.caller === caller) return;
    if (this.#callers.size >= MAX_CACHED_CALLERS) this.#callers.clear();
    if (caller.plan === 'none') {
      this.#callers.delete(hash);
    } else {
      this.#callers.set(hash, { caller, expiresAt: performance.now() + CALLER_CACHE_MS });
    }
  }
}

/** The caller of a request, and the answer headers that depend on the caller. */
export interface Authentication {
  readonly caller?: Caller;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Finds the caller by the key of a request. The answers to a caller have headers that announce
 * idempotency keys and the rate limit, and tell a client if its cached resources are outdated.
 */
export async function authenticate(
  headers: Readonly<IncomingHttpHeaders>,
  options: AuthOptions,
  { allowsCachedCaller = false }: { readonly allowsCachedCaller: boolean | undefined },
): Promise<Authentication> {
  const key = parseBearerToken(headers.authorization);
  const caller =
    key === undefined ? undefined : await findCaller(options, hashKey(key), { allowsCachedCaller });
  if (!caller) return { headers: {} };

  const { ratePolicy, resourcesHash } = options;
  const clientHash = headers[CLI_AGENT_HEADER];
  const isOutdated = clientHash !== undefined && !isCurrentHash(clientHash, resourcesHash());

  return {
    caller,
    headers: {
      [IDEMPOTENCY_HEADER]: IDEMPOTENCY_SUPPORTED,
      ...(isOutdated && { [ACTION_REQUIRE_HEADER]: 'update-resources' }),
      ...(ratePolicy !== undefined && { [RATE_LIMIT_POLICY_HEADER]: ratePolicy }),
    },
  };
}

/** Refuses a caller without a plan or above the rate limit. */
export async function admit({ plan, keyId }: Caller, { limiter }: AuthOptions): Promise<void> {
  if (plan === 'none') throw new ApiError('PAYMENT_REQUIRED_ERROR', 'the account has no paid plan');
  const waitMs = (await limiter?.countRequest(keyId)) ?? 0;
  if (!limiter || waitMs === 0) return;
  const message = `too many requests for this API key (at most ${limiter.perSecond} a second)`;
  throw tooMany(message, waitMs / 1000);
}

/** Returns true if the resources hash of a client, in either form that clients send, is current. */
function isCurrentHash(clientHash: string | string[], hash: string): boolean {
  return clientHash === hash || clientHash === `resources_hash=${hash}`;
}

/** Returns the caller with a key, from the cache or the store. */
async function findCaller(
  options: AuthOptions,
  hash: string,
  { allowsCachedCaller }: { readonly allowsCachedCaller: boolean },
): Promise<Caller | undefined> {
  const cachedCaller = allowsCachedCaller ? options.callers.get(hash) : undefined;
  const caller = cachedCaller ?? (await findStoredCaller(options, hash));
  if (caller) options.callers.set(hash, caller);
  return caller;
}

async function findStoredCaller(options: AuthOptions, hash: string): Promise<Caller | undefined> {
  const { store, sessionKey } = options;
  if (hash === sessionKey.hash) {
    const user = await store.accounts.findUser(sessionKey.userId);
    return (
      user && {
        keyId: SESSION_KEY_ID,
        userId: user.id,
        userName: user.name,
        plan: user.plan,
        isAuthor: true,
      }
    );
  }

  const row = await store.accounts.findKeyOwner(hash);
  if (!row) return undefined;

  const { author, lastUsedAt, ...caller } = row;
  options.recordKeyUse(caller.keyId, lastUsedAt);
  return { ...caller, isAuthor: author === 1 };
}

function parseBearerToken(header: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

/** Records to the minute when a key was last used, without delaying the request. */
export function createKeyUseRecorder(
  store: Store,
  clock: Clock,
  onFault: (error: unknown) => void,
): (keyId: string, lastUsedAt: number | null) => void {
  const recordedTimes = new Map<string, number>();
  return (keyId, lastUsedAt) => {
    const now = clock.now();
    const lastRecorded = Math.max(lastUsedAt ?? 0, recordedTimes.get(keyId) ?? 0);
    if (now - lastRecorded < KEY_USE_PRECISION_MS) return;
    recordedTimes.set(keyId, now);
    store.accounts.recordKeyUse(keyId, now).catch(onFault);
  };
}
