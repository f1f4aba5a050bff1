import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { SignalListener, Signals } from '../store.ts';
import type { Db } from '../writer.ts';
import { connectionConfig } from './pool.ts';

const QUEUED = 'promptrun_queued';
const ENDED = 'promptrun_ended';
const RECONNECT_AFTER_MS = 1000;

export interface Notifications extends Signals {
  close(): Promise<void>;
}

/** What instances notify each other of through the database, on a connection of its own that is reopened when it breaks. */
export function notifications(url: string, db: Db): Notifications {
  const stop = new AbortController();
  let client: pg.Client | undefined;
  let listening: Promise<void> = Promise.resolve();

  const notify = (channel: string, payload: string): void => {
    sql`select pg_notify(${channel}, ${payload})`.execute(db).catch(() => {
      // Others find out by looking.
    });
  };
  const listen = async (listener: SignalListener): Promise<void> => {
    while (!stop.signal.aborted) {
      client = new pg.Client(connectionConfig(url));
      await listenOn(client, listener).catch(() => {});
      await client.end().catch(() => {});
      await sleep(RECONNECT_AFTER_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  };

  return {
    queued: () => notify(QUEUED, ''),
    ended: runId => notify(ENDED, runId),
    subscribe(listener) {
      listening = listen(listener);
    },
    async close() {
      stop.abort();
      await client?.end().catch(() => {});
      await listening;
    },
  };
}

/** Resolves or rejects once the connection is lost. */
async function listenOn(client: pg.Client, listener: SignalListener): Promise<void> {
  const lost = new Promise<void>(resolve => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
  client.on('notification', ({ channel, payload }) => {
    if (channel === QUEUED) listener.onQueued();
    else listener.onEnded(payload);
  });
  await client.connect();
  await client.query(`listen ${QUEUED}; listen ${ENDED}`);
  // Something may have been said while nobody listened.
  listener.onQueued();
  listener.onEnded(undefined);
  await lost;
}
