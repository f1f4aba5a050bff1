import { checkModelsFile } from '../models/catalogue/file.ts';
import { endLeftPrograms } from '../models/programs/left-programs.ts';
import { isLoopbackHost } from '../wire/addresses.ts';
import { PATH_PREFIX } from '../wire/index.ts';
import { compose, type Parts } from './compose.ts';
import { type Clock, systemClock, within } from './core/clock.ts';
import { rateLimiter } from './core/rate-limiter.ts';
import type { Metrics } from './http/metrics.ts';
import { createHttpServer, type HttpServer, listen, originOf, type RequestEvent } from './http/server.ts';
import { WorkThread } from './http/work-thread.ts';
import { createKey } from './keys/keys.ts';
import { openSignedUrls } from './media/signed-urls.ts';
import { publishFromDirectory } from './prompts/publish-directory.ts';
import { healthRoutes } from './routes/health.ts';
import { INTERFACE_ROUTES } from './routes/index.ts';
import { mediaRoutes } from './routes/media.ts';
import { openApiRoute } from './routes/openapi.ts';
import { pageRoutes } from './routes/page.ts';
import { runHousekeeping } from './runs/housekeeping.ts';
import { QueueRunner } from './runs/queue-runner.ts';
import type { Service, ServiceOptions } from './service-options.ts';
import { storeFault } from './store/errors.ts';
import { checkMediaPlace, openDatabase } from './store/open.ts';
import type { Store } from './store/store.ts';

/** How long callers have to fetch their last answers once every run has ended or been let go of, in milliseconds. */
const LAST_ANSWERS_MS = 2000;
/** What clients are told of a service without a limit, in requests a second: what it can answer with ease. */
const UNLIMITED_RATE = 1000;

/**
 * Serves the store of a data directory over HTTP; several services may run on one.
 *
 * @throws {DataDirectoryError} where the data directory can't be used
 * @throws {InvalidModelsFile} for a models.yaml with a fault
 * @throws {ListenError} if the address can't be listened on
 * @throws {MediaUrlError} if the place for media is not one of an object store
 * @throws {MediaUnavailableError} if the object store refuses
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { clock = systemClock } = options;
  const metrics = options.metrics && (await import('./http/metrics.ts')).createMetrics();
  const store = await openDatabase({ ...options, clock, onQuery: metrics?.query });
  try {
    await endLeftPrograms(options.dataDir, options.env ?? {});
    await checkModelsFile({ dataDir: options.dataDir, env: options.env ?? {} });
    await checkMediaPlace(store, { ...options, clock });
    return await serveFrom(store, { ...options, clock }, metrics);
  } catch (error) {
    await store.close();
    throw storeFault(options.dataDir, error);
  }
}

async function serveFrom(
  store: Store,
  options: ServiceOptions & { clock: Clock },
  metrics: Metrics | undefined,
): Promise<Service> {
  const { host = '127.0.0.1', port = 0, promptsDir, graceMs = 0, onNotice = () => {}, clock } = options;
  const closing = new AbortController();
  const stopped = new AbortController();
  const draining = new AbortController();
  const urls = await openSignedUrls(store, clock);
  const described = [...INTERFACE_ROUTES, ...mediaRoutes(urls), ...healthRoutes];
  const thread = new WorkThread();
  const { rateLimit, parallel, rerun } = options;
  const parts = await compose(store, {
    ...options,
    runner: (work, models) =>
      new QueueRunner({
        ...work,
        models: () => models.has(),
        parallel,
        rerun,
      }),
    limiter:
      rateLimit === undefined
        ? undefined
        : (store.requestRates?.(rateLimit) ?? rateLimiter(rateLimit, clock)),
    ratePolicy: `"default";q=${rateLimit ?? UNLIMITED_RATE};w=1`,
    onNotice,
    routes: [...described, openApiRoute(described), ...(options.page === false ? [] : pageRoutes)],
    mediaUrl: (_, output, origin) => `${origin}${urls.pathOf(output)}`,
    watchModels: true,
    forgetsUnasked: true,
    allowsPrograms: async () =>
      options.allowPrograms === true || (await store.accounts.accounts()).length <= 1,
    hidesRemedies: true,
    meter: metrics,
    thread,
    // Only who starts the service can add the flag.
    onUnresolved: host => {
      onNotice(`the host ${host} can't be found: --allow-private leaves finding such names to the proxy`);
      return '';
    },
    draining: draining.signal,
    closing: closing.signal,
    stopped: stopped.signal,
  });
  const { api } = parts;
  const onRequest = (event: RequestEvent): void => {
    metrics?.request(event);
    options.onRequest?.(event);
  };
  const http = createHttpServer({ ...options, onRequest, api, host, closing: closing.signal });
  const metricsServer = metrics?.server({
    running: () => parts.runner.running,
    queued: () => store.queue.queued(store.shared ? parts.models.has() : undefined),
  });
  const watched =
    promptsDir === undefined ? undefined : await publishFromDirectory(promptsDir, parts, onNotice);
  const stop = async (grace: number): Promise<void> => {
    draining.abort();
    closing.abort();
    watched?.close();
    parts.models.close();
    await stopServing({ ...parts, ...http, thread }, clock, grace, stopped);
    metricsServer?.close();
    metricsServer?.closeAllConnections();
  };
  const open = async (): Promise<string | undefined> => {
    await listen(http.server, host, port);
    if (metricsServer && options.metrics) {
      await listen(metricsServer, options.metrics.host, options.metrics.port);
    }
    // Others see by it that the store is in use.
    await store.workers.register();
    return await firstKey(store, clock);
  };
  const newKey = await open().catch(async (error: unknown) => {
    await stop(0);
    throw error;
  });
  const isBehindTls = options.publicUrl?.startsWith('https:') ?? false;
  if (!isLoopbackHost(host) && !isBehindTls) onNotice(openToOthers(host));
  parts.runner.start();
  const housekeeping = runHousekeeping(parts, closing.signal);
  const origin = originOf(http.server, host);
  return {
    url: `${origin}${PATH_PREFIX}`,
    pageUrl: options.page === false ? undefined : `${options.publicUrl ?? origin}/`,
    metricsUrl:
      metricsServer && options.metrics && `${originOf(metricsServer, options.metrics.host)}/metrics`,
    newKey,
    sessionKey: parts.sessionKey,
    async drain(signal) {
      draining.abort();
      await clock.sleep(options.drainMs ?? 0, signal).catch(() => {});
    },
    async close() {
      await stop(graceMs);
      await housekeeping;
      await store.close();
    },
  };
}

interface Threads {
  readonly thread: WorkThread;
}

/** Creations in flight are answered as their runs end; those that don't, once the grace is over. */
async function stopServing(
  { server, endUnused, runner, requests, tasks, thread }: Parts<QueueRunner> & HttpServer & Threads,
  clock: Clock,
  graceMs: number,
  stopped: AbortController,
): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()));
  endUnused();
  // The headers of a request may still be arriving.
  const arriving = graceMs > 0 ? within(graceMs, clock, closed) : undefined;
  await Promise.all([runner.close(graceMs), requests.endedWithin(graceMs, clock), arriving]);
  stopped.abort(new Error('the service is stopping'));
  await Promise.all([tasks.close(), thread.close()]);
  await requests.endedWithin(LAST_ANSWERS_MS, clock);
  // What is still open has nothing to wait for, or has had its time.
  server.closeAllConnections();
  await closed;
}

/** Made on the first start only, even if it is revoked later. */
async function firstKey(store: Store, clock: Clock): Promise<string | undefined> {
  const { made } = await store.settings.once('firstKeyMade', () => 'yes');
  return made ? (await createKey(store, clock, { author: true })).key : undefined;
}

function openToOthers(host: string): string {
  const remedy = 'behind a proxy that speaks TLS, start with --public-url <its address>';
  return `warning: ${host} is reachable from other machines: keys and runs travel unencrypted; ${remedy}`;
}
