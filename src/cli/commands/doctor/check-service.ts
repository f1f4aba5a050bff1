import { NetworkError, PaymentRequiredError, UnauthorizedError } from '../../../client/errors.ts';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../failure.ts';
import { ageOf } from '../../outputs/age.ts';
import { type Check, passed, skipped } from './check.ts';

/** How long the service may take to answer a check-up, in milliseconds. */
const PATIENCE_MS = 15_000;

/** Asks for the models once: shows whether the service is reached, takes the key, and fills the cache. */
export async function checkService(ctx: Context, connection: Connection): Promise<readonly Check[]> {
  const held = connection.resources.held();
  const startedAt = ctx.clock.now();
  try {
    const { hash, resources } = await connection.resources.refresh({
      timeoutMs: PATIENCE_MS,
      retries: 0,
      signal: ctx.signal,
    });
    const ms = ctx.clock.now() - startedAt;
    const news = connection.resources.isKept
      ? cacheNews(held, hash, ctx.clock.now())
      : 'which could not be kept: --debug tells why';
    return [
      passed('reachability', `${connection.baseUrl} answered in ${ms} ms`),
      passed('key', 'accepted'),
      passed('cache', `${resources.models.length} models, ${news}`),
    ];
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return failedService(connection, error);
  }
}

function cacheNews(held: { hash: string; fetchedAt: string } | undefined, hash: string, now: number): string {
  if (held === undefined) return 'held from now on';
  return held.hash === hash ? `as held since ${ageOf(held.fetchedAt, now)}` : 'renewed, they had changed';
}

function failedService({ baseUrl }: Connection, error: unknown): readonly Check[] {
  const { message, exitCode, hints } = failureOf(error);
  const refused = error instanceof UnauthorizedError || error instanceof PaymentRequiredError;
  const cache = skipped('cache', 'not checked');
  if (refused) {
    return [
      passed('reachability', `${baseUrl} answered`),
      { name: 'key', ok: false, detail: message, hints, exitCode },
      cache,
    ];
  }
  const advice =
    error instanceof NetworkError
      ? ['Check the address, the network, and HTTPS_PROXY if you need one.']
      : hints;
  return [
    { name: 'reachability', ok: false, detail: message, hints: advice, exitCode },
    skipped('key', 'not checked'),
    cache,
  ];
}
