import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { serviceClock, waitAtMost } from '../../core/clock.ts';
import type { WorkerKind, Workers } from '../store.ts';
import type { Db } from '../writer.ts';

/** Time for which a worker counts as alive after the last renewal of its lease. */
const LEASE_DURATION = sql`interval '15 seconds'`;
const RENEWAL_INTERVAL_MS = 4000;

/**
 * Time after which a renewal counts as failed, and the pause before the next one: several must fit
 * into a lease.
 */
const RENEWAL_TIMEOUT_MS = 4000;
const RENEWAL_RETRY_MS = 500;

/**
 * Workers that hold leases, renewed while their process lives. Only the database's clock counts. No
 * worker is declared dead for the length of a lease after the database has started, because workers
 * may be slow to reach it again; nor by a worker that lost its own lease, because others may have
 * been cut off too.
 */
export class LeasedWorkers implements Workers {
  readonly #db: Db;
  readonly #workerId = randomUUID();
  readonly #released = new AbortController();
  #registration: Promise<void> | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  async register(): Promise<string> {
    this.#registration ??= this.#takeLease();
    await this.#registration;
    return this.#workerId;
  }

  getWorkerKind(): WorkerKind {
    return 'serve';
  }

  async isAlive(worker: string): Promise<boolean> {
    return worker === this.#workerId || !(await settleLease(this.#db, worker, this.#workerId));
  }

  async removeDead(): Promise<void> {
    await sql`delete from "workers" where "expiresAt" < clock_timestamp() - interval '1 day'`.execute(
      this.#db,
    );
  }

  async release(): Promise<void> {
    this.#released.abort();
    if (this.#registration) {
      await sql`delete from "workers" where "id" = ${this.#workerId}`.execute(this.#db);
    }
  }

  async #takeLease(): Promise<void> {
    try {
      await renewLease(this.#db, this.#workerId);
    } catch (error) {
      this.#registration = undefined;
      throw error;
    }
    void this.#keepRenewing();
  }

  async #keepRenewing(): Promise<void> {
    const { signal } = this.#released;
    let wasUnavailable = false;
    while (!signal.aborted) {
      const pauseMs = wasUnavailable ? RENEWAL_RETRY_MS : RENEWAL_INTERVAL_MS;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;

      // Other workers may reach the database again later than this one, and are not dead.
      const renewal: Promise<boolean> = renewLease(this.#db, this.#workerId, {
        wasUnavailable,
      }).then(
        () => true,
        () => false,
      );
      wasUnavailable = (await waitAtMost(RENEWAL_TIMEOUT_MS, serviceClock, renewal)) !== true;
    }
  }
}

async function renewLease(
  db: Db,
  workerId: string,
  { wasUnavailable = false } = {},
): Promise<void> {
  await sql`
    insert into "workers" ("id", "aliveSince", "expiresAt")
    values (${workerId}, clock_timestamp(), clock_timestamp() + ${LEASE_DURATION})
    on conflict ("id") do update set
      "aliveSince" = case when ${wasUnavailable}::boolean or "workers"."expiresAt" < clock_timestamp()
        then clock_timestamp() else "workers"."aliveSince" end,
      "expiresAt" = clock_timestamp() + ${LEASE_DURATION}`.execute(db);
}

/**
 * Returns true if a worker is known to be dead, and deletes its lease, so that it must take a new
 * one.
 */
async function settleLease(db: Db, workerId: string, observerId: string): Promise<boolean> {
  const { rows } = await sql<{ alive: boolean; trusted: boolean }>`
    select
      exists (select from "workers" where "id" = ${workerId} and "expiresAt" > clock_timestamp()) as "alive",
      exists (
        select from "workers" where "id" = ${observerId}
          and "expiresAt" > clock_timestamp() and "aliveSince" < clock_timestamp() - ${LEASE_DURATION}
      ) and pg_postmaster_start_time() < clock_timestamp() - ${LEASE_DURATION} as "trusted"`.execute(
    db,
  );
  if (rows[0]?.alive || !rows[0]?.trusted) return false;
  await sql`delete from "workers" where "id" = ${workerId} and "expiresAt" < clock_timestamp()`.execute(
    db,
  );
  return true;
}
