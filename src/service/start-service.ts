import { PATH_PREFIX } from '../wire/index.ts';
import { type Clock, systemClock } from './clock.ts';
import { compose, type Parts } from './compose.ts';
import { createKey } from './keys/keys.ts';
import { runHousekeeping } from './lifecycle/housekeeping.ts';
import { isLoopback, listen, originFor } from './listen.ts';
import { publishFromDirectory } from './prompts/publish-directory.ts';
import type { Service, ServiceOptions } from './service-options.ts';
import { openDatabase, type Store } from './store/store.ts';

/** How long callers have to fetch their last answers once every run has ended or been let go of, in milliseconds. */
const LAST_ANSWERS_MS = 2000;

/**
 * Starts the local service on a data directory; several may run on one.
 *
 * @throws {DataDirectoryError} where the data directory can't be used
 * @throws {ListenError} where the address can't be listened on
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { clock = systemClock } = options;
  const store = await openDatabase(options.dataDir, clock);
  try {
    return await serveFrom(store, { ...options, clock });
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function serveFrom(store: Store, options: ServiceOptions & { clock: Clock }): Promise<Service> {
  const { host = '127.0.0.1', port = 0, promptsDir, graceMs = 0, onNotice = () => {}, clock } = options;
  const closing = new AbortController();
  const stopped = new AbortController();
  let origin = '';
  const parts = await compose(store, {
    ...options,
    onNotice,
    origin: request => originFor(host, origin, request),
    closing: closing.signal,
    stopped: stopped.signal,
  });
  const watched =
    promptsDir === undefined
      ? undefined
      : await publishFromDirectory(promptsDir, { store, clock, ...parts }, onNotice);
  const stop = async (grace: number): Promise<void> => {
    closing.abort();
    watched?.close();
    parts.models.close();
    await stopServing(parts, clock, grace, stopped);
  };
  try {
    origin = await listen(parts.app, host, port);
  } catch (error) {
    await stop(0);
    throw error;
  }
  if (!isLoopback(host)) onNotice(openToOthers(host));
  const newKey = options.embedded ? undefined : await firstKey(store, clock);
  parts.runner.start({ patient: options.embedded ?? false });
  const house = runHousekeeping(parts.housekeeping, closing.signal);
  return {
    url: `${origin}${PATH_PREFIX}`,
    newKey,
    sessionKey: parts.sessionKey,
    async close() {
      await stop(graceMs);
      await house;
      await store.close();
    },
  };
}

/** Creations in flight are answered as their runs end; those that don't, once the grace is over. */
async function stopServing(
  { app, runner, requests }: Parts,
  clock: Clock,
  graceMs: number,
  stopped: AbortController,
): Promise<void> {
  const closed = app.close();
  await Promise.all([runner.close(graceMs), requests.endedWithin(graceMs, clock)]);
  stopped.abort(new Error('the service is stopping'));
  await requests.endedWithin(LAST_ANSWERS_MS, clock);
  // What is still open has nothing to wait for, or has had its time.
  app.server.closeAllConnections();
  await closed;
}

/** Made on the first start only, even if it is revoked later. */
async function firstKey(store: Store, clock: Clock): Promise<string | undefined> {
  const { made } = await store.settings.once('firstKeyMade', () => 'yes');
  return made ? (await createKey(store, clock)).key : undefined;
}

function openToOthers(host: string): string {
  return `warning: ${host} is reachable from other machines: keys and runs travel unencrypted`;
}
