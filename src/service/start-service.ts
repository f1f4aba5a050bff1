import { checkModelsFile } from '../models/catalogue/read-models-file.ts';
import { endPersistentPrograms } from '../models/engines.ts';
import { endOrphanedPrograms } from '../models/programs/orphaned-programs.ts';
import { isLoopbackHost } from '../wire/addresses.ts';
import { PATH_PREFIX } from '../wire/index.ts';
import { type ComposeOptions, compose, type ServiceParts } from './compose.ts';
import { type Clock, serviceClock, waitAtMost } from './core/clock.ts';
import { createRateLimiter, type RateLimiter } from './core/rate-limiter.ts';
import { getServerOrigin, listen } from './http/listen.ts';
import type { Metrics } from './http/metrics.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { WorkThread } from './http/work-thread/work-thread.ts';
import { createKey } from './keys/keys.ts';
import { createSignedUrls } from './media/signed-urls.ts';
import { publishFromDirectory } from './prompts/publish-directory.ts';
import { healthRoutes } from './routes/health.ts';
import { INTERFACE_ROUTES } from './routes/index.ts';
import { createMediaRoutes } from './routes/media.ts';
import { createOpenApiRoute } from './routes/openapi.ts';
import { pageRoutes } from './routes/page.ts';
import { QueueRunner } from './runs/execution/queue-runner.ts';
import { runHousekeeping } from './runs/housekeeping.ts';
import type { Service, ServiceOptions } from './service-options.ts';
import { checkMediaLocation, openDatabase } from './store/open-database.ts';
import type { Store } from './store/store.ts';
import { wrapStoreFault } from './store/store-errors.ts';

const DEFAULT_HOST = '127.0.0.1';

/** The setting of a store whose first key has been created, or is about to be. */
const FIRST_KEY_SETTING = 'firstKeyMade';

/** Time for callers to receive their last answers after all runs have ended or been released. */
const LAST_HTTP_ANSWERS_MS = 2000;

/**
 * The advertised rate of a service without a limit, in requests per second, which it can easily
 * answer.
 */
const UNLIMITED_RATE = 1000;

/**
 * Serves the store of a data directory over HTTP. Several services may share a store.
 *
 * @throws {DataDirectoryError} if the data directory can't be used
 * @throws {InvalidModelsFileError} if models.yaml has a fault
 * @throws {ListenError} if the address can't be listened on
 * @throws {MediaUrlError} if `mediaBucketUrl` doesn't name an object store
 * @throws {ObjectStoreError} if the object store refuses
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { clock = serviceClock } = options;
  const metrics = options.metricsAddress && (await import('./http/metrics.ts')).createMetrics();

  const store = await openDatabase({ ...options, clock, onQuery: metrics?.recordQuery });
  try {
    await endOrphanedPrograms(options.dataDir, options.env ?? {});
    await checkModelsFile({ dataDir: options.dataDir, env: options.env ?? {} });
    await checkMediaLocation(store, { ...options, clock });
    return await serveFrom(store, { ...options, clock }, metrics);
  } catch (error) {
    await store.close();
    throw wrapStoreFault(options.dataDir, error);
  }
}

type ServeOptions = ServiceOptions & { readonly clock: Clock };

/** The steps of a shutdown, in order. Each controller is aborted when its step begins. */
interface ShutdownSteps {
  /** `/readyz` fails, so that load balancers send no new requests. */
  readonly draining: AbortController;
  /** No new requests are accepted. */
  readonly closing: AbortController;
  /** Requests in flight are ended. */
  readonly stopping: AbortController;
}

/** The parts of a served service that an embedded one lacks. */
interface ServedParts {
  readonly metrics: Metrics | undefined;
  readonly thread: WorkThread;
  readonly shutdown: ShutdownSteps;
}

async function serveFrom(
  store: Store,
  options: ServeOptions,
  metrics: Metrics | undefined,
): Promise<Service> {
  const { drainMs = 0, graceMs = 0, clock } = options;
  const shutdown = createShutdownSteps();
  const served = { metrics, thread: new WorkThread(), shutdown };
  const parts = await compose(store, await buildComposeOptions(store, options, served));
  const http = createServiceServer(parts, options, served);
  const metricsServer = metrics && createMetricsServer(metrics, store, parts);
  const publisher = await publishPromptsDirectory(parts, options);

  const stop = async (runGraceMs: number): Promise<void> => {
    shutdown.draining.abort();
    shutdown.closing.abort();
    publisher?.close();
    parts.models.close();
    await stopServing(parts, http, served, runGraceMs);
    metricsServer?.close();
    metricsServer?.closeAllConnections();
  };

  const servers: Servers = [http.server, metricsServer];
  const newKey = await startServers(store, options, servers).catch(async (error: unknown) => {
    await stop(0);
    throw error;
  });

  warnIfUnencrypted(options);
  parts.runner.start();
  const housekeeping = runHousekeeping(parts, shutdown.closing.signal);

  return {
    ...getServiceUrls(options, servers),
    newKey,
    sessionKey: parts.sessionKey,
    async drain(signal) {
      shutdown.draining.abort();
      await clock.sleep(drainMs, signal).catch(() => {});
    },
    async close() {
      await stop(graceMs);
      await housekeeping;
      await store.close();
    },
  };
}

function createShutdownSteps(): ShutdownSteps {
  return {
    draining: new AbortController(),
    closing: new AbortController(),
    stopping: new AbortController(),
  };
}

function createServiceServer(
  { api }: ServiceParts<QueueRunner>,
  options: ServeOptions,
  { shutdown, metrics }: ServedParts,
): HttpServer {
  return createHttpServer({
    ...options,
    api,
    host: options.host ?? DEFAULT_HOST,
    closing: shutdown.closing.signal,
    onRequest(event) {
      metrics?.recordRequest(event);
      options.onRequest?.(event);
    },
  });
}

/** Returns a server for the metrics, which include the runs of this instance. */
function createMetricsServer(
  metrics: Metrics,
  store: Store,
  { runner, models }: ServiceParts<QueueRunner>,
): HttpServer['server'] {
  return metrics.createServer({
    countRunningRuns: () => runner.runningCount,
    countQueuedRuns: () =>
      store.queue.countClaimable(store.isShared ? models.listCapabilities() : undefined),
  });
}

async function publishPromptsDirectory(
  parts: ServiceParts<QueueRunner>,
  { promptsDir, onNotice = () => {} }: ServeOptions,
) {
  return promptsDir === undefined
    ? undefined
    : await publishFromDirectory(promptsDir, parts, onNotice);
}

type Servers = readonly [service: HttpServer['server'], metrics: HttpServer['server'] | undefined];

function getServiceUrls(
  { host = DEFAULT_HOST, servePage, publicUrl, metricsAddress }: ServeOptions,
  [server, metricsServer]: Servers,
): Pick<Service, 'url' | 'pageUrl' | 'metricsUrl'> {
  const origin = getServerOrigin(server, host);
  return {
    url: `${origin}${PATH_PREFIX}`,
    pageUrl: servePage === false ? undefined : `${publicUrl ?? origin}/`,
    metricsUrl:
      metricsServer &&
      metricsAddress &&
      `${getServerOrigin(metricsServer, metricsAddress.host)}/metrics`,
  };
}

/** Returns the options by which a served service differs from an embedded one. */
async function buildComposeOptions(
  store: Store,
  options: ServeOptions,
  { metrics, thread, shutdown }: ServedParts,
): Promise<ComposeOptions<QueueRunner>> {
  const { onNotice = () => {}, clock, rateLimit, maxConcurrentRuns, rerun } = options;
  const urls = await createSignedUrls(store, clock);
  const documentedRoutes = [...INTERFACE_ROUTES, ...createMediaRoutes(urls), ...healthRoutes];

  return {
    ...options,
    createRunner: (work, models) =>
      new QueueRunner({
        ...work,
        listModels: () => models.listCapabilities(),
        maxConcurrentRuns,
        rerun,
      }),
    limiter: rateLimit === undefined ? undefined : createLimiter(store, rateLimit, clock),
    ratePolicy: `"default";q=${rateLimit ?? UNLIMITED_RATE};w=1`,
    onNotice,
    routes: [
      ...documentedRoutes,
      createOpenApiRoute(documentedRoutes),
      ...(options.servePage === false ? [] : pageRoutes),
    ],
    mediaUrl: (_, output, origin) => `${origin}${urls.createSignedPath(output)}`,
    watchModels: true,
    forgetsUnaskedRequests: true,
    allowsPrograms: async () =>
      options.allowPrograms === true || (await store.accounts.listUsers()).length <= 1,
    isForOneUser: false,
    meter: metrics,
    thread,
    // Only the operator can add the flag, so the caller's error doesn't name it.
    onUnresolved: host => {
      onNotice(
        `can't resolve the host ${host}; use --allow-private to let the proxy resolve such names`,
      );
      return '';
    },
    draining: shutdown.draining.signal,
    closing: shutdown.closing.signal,
    stopping: shutdown.stopping.signal,
  };
}

/**
 * Returns the limiter of a shared store if it has one, because several services then share the
 * limit.
 */
function createLimiter(store: Store, perSecond: number, clock: Clock): RateLimiter {
  return store.createRateLimiter?.(perSecond) ?? createRateLimiter(perSecond, clock);
}

/** Listens, and marks the store as in use. Returns the key that the first start creates. */
async function startServers(
  store: Store,
  { host = DEFAULT_HOST, port = 0, metricsAddress, clock }: ServeOptions,
  [server, metricsServer]: Servers,
): Promise<string | undefined> {
  await listen(server, { host, port });

  if (metricsServer && metricsAddress) {
    const flags = { host: '--metrics', port: '--metrics' };
    await listen(metricsServer, { ...metricsAddress, flags });
  }

  await store.workers.register();
  return await createFirstKey(store, clock);
}

/**
 * Closes the server. Creations in flight are answered when their runs end, or when the grace period
 * is over.
 *
 * @param graceMs time for runs in progress to end, in milliseconds
 */
async function stopServing(
  { runner, tasks, engines, clock }: ServiceParts<QueueRunner>,
  { server, requests, closeUnusedConnections }: HttpServer,
  { thread, shutdown }: ServedParts,
  graceMs: number,
): Promise<void> {
  const serverClosed = new Promise<void>(resolve => server.close(() => resolve()));
  closeUnusedConnections();

  // The headers of a request may still be arriving.
  const lastArrivals = graceMs > 0 ? waitAtMost(graceMs, clock, serverClosed) : undefined;
  await Promise.all([
    runner.close(graceMs),
    requests.waitForAllWithin(graceMs, clock),
    lastArrivals,
  ]);
  shutdown.stopping.abort(new Error('the service is stopping'));
  await Promise.all([tasks.close(), thread.close(), endPersistentPrograms(engines)]);
  await requests.waitForAllWithin(LAST_HTTP_ANSWERS_MS, clock);

  // The remaining connections are idle, or have had their time.
  server.closeAllConnections();
  await serverClosed;
}

/** Creates a key on the first start only; never again, even if it is revoked later. */
async function createFirstKey(store: Store, clock: Clock): Promise<string | undefined> {
  // Comes first, so that of several services that start at once only one creates a key.
  const { isNew } = await store.settings.getOrCreate(FIRST_KEY_SETTING, () => 'yes');
  if (!isNew) return undefined;

  try {
    const { key } = await createKey(store, clock, { isAuthor: true });
    return key;
  } catch (error) {
    // The next start tries again.
    await store.settings.remove(FIRST_KEY_SETTING).catch(() => {});
    throw error;
  }
}

function warnIfUnencrypted({ host = DEFAULT_HOST, publicUrl, onNotice }: ServeOptions): void {
  const isBehindTls = publicUrl?.startsWith('https:') ?? false;
  if (isLoopbackHost(host) || isBehindTls) return;
  const remedy = 'behind a proxy that speaks TLS, start with --public-url <its address>';
  onNotice?.(
    `warning: ${host} is reachable from other machines: keys and runs travel unencrypted; ${remedy}`,
  );
}
