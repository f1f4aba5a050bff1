import { sql } from 'kysely';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import type { Db } from '../writer.ts';

/**
 * Returns a limiter of the requests of each key over all instances. It allows bursts of `perSecond`
 * requests and refills within a second.
 */
export function createSharedRateLimiter(db: Db, perSecond: number): RateLimiter {
  const interval = sql`${1 / perSecond} * interval '1 second'`;
  // The burst is what a second grants, but at least one request.
  const burst = sql`${Math.max(1, perSecond) / perSecond} * interval '1 second'`;
  return {
    perSecond,
    async countRequest(keyId) {
      const { rows } = await sql<{ granted: boolean }>`
        insert into "requestRates" ("keyId", "nextAt") values (${keyId}, clock_timestamp() + ${interval})
        on conflict ("keyId") do update
        set "nextAt" = greatest("requestRates"."nextAt", clock_timestamp()) + ${interval}
        where greatest("requestRates"."nextAt", clock_timestamp()) + ${interval} <= clock_timestamp() + ${burst}
        returning true as "granted"`.execute(db);
      return rows.length > 0 ? 0 : await readWaitMs(db, keyId, sql`${interval} - ${burst}`);
    },
  };
}

async function readWaitMs(db: Db, keyId: string, offset: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from "nextAt" + ${offset} - clock_timestamp()) * 1000)::float8 as "ms"
    from "requestRates" where "keyId" = ${keyId}`.execute(db);
  return Math.max(1, rows[0]?.ms ?? 1);
}
