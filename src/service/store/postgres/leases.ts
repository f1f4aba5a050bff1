import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { serviceClock, waitAtMost } from '../../core/clock.ts';
import type { WorkerKind, Workers } from '../store.ts';
import type { Db } from '../writer.ts';

/** Time for which a worker counts as alive after the last renewal. */
const LEASE_DURATION = sql`interval '15 seconds'`;
const RENEWAL_INTERVAL_MS = 4000;

/**
 * Time after which a renewal counts as failed, and pause before the next: several must fit into a
 * lease.
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
  readonly #name = randomUUID();
  readonly #stop = new AbortController();
  #registered: Promise<void> | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  async register(): Promise<string> {
    this.#registered ??= this.#takeLease();
    await this.#registered;
    return this.#name;
  }

  getWorkerKind(): WorkerKind {
    return 'serve';
  }

  async isAlive(worker: string): Promise<boolean> {
    return worker === this.#name || !(await isDead(this.#db, worker, this.#name));
  }

  async sweep(): Promise<void> {
    await sql`delete from "workers" where "expiresAt" < clock_timestamp() - interval '1 day'`.execute(
      this.#db,
    );
  }

  async release(): Promise<void> {
    this.#stop.abort();
    if (this.#registered) {
      await sql`delete from "workers" where "id" = ${this.#name}`.execute(this.#db);
    }
  }

  async #takeLease(): Promise<void> {
    try {
      await renew(this.#db, this.#name);
    } catch (error) {
      this.#registered = undefined;
      throw error;
    }
    void this.#keepRenewing();
  }

  async #keepRenewing(): Promise<void> {
    const { signal } = this.#stop;
    let wasUnavailable = false;
    while (!signal.aborted) {
      const pauseMs = wasUnavailable ? RENEWAL_RETRY_MS : RENEWAL_INTERVAL_MS;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;

      // Other workers may reach the database again later than this one, and are not dead.
      const isRenewed: Promise<boolean> = renew(this.#db, this.#name, {
        wasAway: wasUnavailable,
      }).then(
        () => true,
        () => false,
      );
      wasUnavailable = (await waitAtMost(RENEWAL_TIMEOUT_MS, serviceClock, isRenewed)) !== true;
    }
  }
}

async function renew(db: Db, name: string, { wasAway = false } = {}): Promise<void> {
  await sql`
    insert into "workers" ("id", "aliveSince", "expiresAt")
    values (${name}, clock_timestamp(), clock_timestamp() + ${LEASE_DURATION})
    on conflict ("id") do update set
      "aliveSince" = case when ${wasAway}::boolean or "workers"."expiresAt" < clock_timestamp()
        then clock_timestamp() else "workers"."aliveSince" end,
      "expiresAt" = clock_timestamp() + ${LEASE_DURATION}`.execute(db);
}

/**
 * Returns true if a worker is known to be dead. Deletes its lease then, so that it must take a new
 * one.
 */
async function isDead(db: Db, worker: string, observer: string): Promise<boolean> {
  const { rows } = await sql<{ alive: boolean; trusted: boolean }>`
    select
      exists (select from "workers" where "id" = ${worker} and "expiresAt" > clock_timestamp()) as "alive",
      exists (
        select from "workers" where "id" = ${observer}
          and "expiresAt" > clock_timestamp() and "aliveSince" < clock_timestamp() - ${LEASE_DURATION}
      ) and pg_postmaster_start_time() < clock_timestamp() - ${LEASE_DURATION} as "trusted"`.execute(
    db,
  );
  if (rows[0]?.alive || !rows[0]?.trusted) return false;
  await sql`delete from "workers" where "id" = ${worker} and "expiresAt" < clock_timestamp()`.execute(
    db,
  );
  return true;
}
