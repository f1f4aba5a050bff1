import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  ACTION_REQUIRE_HEADER,
  CLI_AGENT_HEADER,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_SUPPORTED,
} from '../../wire/index.ts';
import { isSameSecret } from '../same-secret.ts';
import type { Store } from '../store/store.ts';
import type { Plan } from '../store/tables.ts';
import { ApiError, tooManyRequests } from './api-error.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Who a request comes from. */
export interface Caller {
  userId: number;
  userName: string;
  plan: Plan;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route under /v1. */
    caller: Caller | null;
  }
}

export interface AuthOptions {
  store: Store;
  /** A key that is in no store, and whom it belongs to. */
  sessionKey?: { hash: string; userId: number } | undefined;
  limiter?: RateLimiter | undefined;
  resourcesHash: () => string;
  noteUse: (keyId: string, lastUsedAt: number | null) => void;
}

/** How a key is kept and looked up: never as it is. */
export function keyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Lets a request through only with a valid key, a plan and within the rate; marks answers to stale clients. */
export function authenticator(options: AuthOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const caller = await identify(options, request, reply);
    if (!caller) throw new ApiError('UNAUTHORIZED_ERROR', 'the API key is missing or not valid');
    admit(options, caller);
  };
}

/** The same for routes that don't exist: a key is looked at where there is one, and not asked for. */
export function optionalAuthenticator(options: AuthOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!request.is404) return;
    const caller = await identify(options, request, reply);
    if (caller) admit(options, caller);
  };
}

type IdentifiedCaller = Caller & { keyId: string };

async function identify(
  options: AuthOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<IdentifiedCaller | undefined> {
  const key = bearerToken(request.headers.authorization);
  const caller = key === undefined ? undefined : await identified(options, keyHash(key));
  if (!caller) return undefined;
  request.caller = caller;
  reply.header(IDEMPOTENCY_HEADER, IDEMPOTENCY_SUPPORTED);
  const held = request.headers[CLI_AGENT_HEADER];
  if (held !== undefined && held !== options.resourcesHash()) {
    reply.header(ACTION_REQUIRE_HEADER, 'refresh-resources');
  }
  return caller;
}

function admit({ limiter }: AuthOptions, caller: IdentifiedCaller): void {
  if (caller.plan === 'none') throw new ApiError('PAYMENT_REQUIRED_ERROR', 'the account has no paid plan');
  const waitMs = limiter?.take(caller.keyId) ?? 0;
  if (waitMs > 0) throw tooManyRequests('too many requests for this API key', waitMs / 1000);
}

async function identified(options: AuthOptions, hash: string): Promise<IdentifiedCaller | undefined> {
  const { store, sessionKey } = options;
  if (sessionKey && isSameSecret(hash, sessionKey.hash)) {
    const user = await store.accounts.user(sessionKey.userId);
    return user && { keyId: 'session', userId: user.id, userName: user.name, plan: user.plan };
  }
  const owner = await store.accounts.ownerOf(hash);
  if (!owner) return undefined;
  options.noteUse(owner.keyId, owner.lastUsedAt);
  return owner;
}

function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}
