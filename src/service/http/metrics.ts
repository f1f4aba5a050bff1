import { createServer, type Server, type ServerResponse } from 'node:http';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import type { Meter } from '../core/meter.ts';

/** The figures of runs, read for each request of the metrics. */
export interface MetricSources {
  /** Returns the number of runs that this instance carries out. */
  readonly countRunningRuns: () => number;
  /** Returns the number of queued runs that this instance could carry out. */
  readonly countQueuedRuns: () => Promise<number>;
}

/**
 * A meter that serves its figures in Prometheus' text format. No label holds a user, key, id or
 * text.
 */
export interface Metrics extends Meter {
  /** Returns a server for `GET /metrics` alone. */
  readonly createServer: (sources: MetricSources) => Server;
}

const LABELLED_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
]);

/** Histogram buckets in seconds: a text takes one, a video minutes. */
const DURATION_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const STORE_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const instruments = createInstruments(registry);
  return {
    recordRequest({ method, route = 'none', httpStatus, durationMs }) {
      const labels = {
        method: LABELLED_METHODS.has(method) ? method : 'other',
        route,
        status: String(httpStatus),
      };
      instruments.requestCount.inc(labels);
      instruments.requestSeconds.observe(labels, durationMs / 1000);
    },
    recordRunCreation: model => instruments.runCount.inc({ state: 'created', model }),
    recordRunStart(model, sinceCreationMs) {
      instruments.runCount.inc({ state: 'started', model });
      instruments.runStartSeconds.observe({ model }, sinceCreationMs / 1000);
    },
    recordRunEnd(model, status, sinceCreationMs) {
      instruments.runCount.inc({ state: status, model });
      instruments.runEndSeconds.observe({ model }, sinceCreationMs / 1000);
    },
    recordQuery: durationMs => instruments.storeSeconds.observe(durationMs / 1000),
    createServer: ({ countRunningRuns, countQueuedRuns }) => {
      return createScrapeServer(registry, async () => {
        instruments.runningRuns.set(countRunningRuns());
        instruments.queueLength.set(await countQueuedRuns());
        return await registry.metrics();
      });
    },
  };
}

function createInstruments(registry: Registry) {
  const registers = [registry];
  return {
    requestSeconds: new Histogram({
      name: 'promptrun_request_seconds',
      help: 'Requests answered by this instance, and how long each took',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS_S,
      registers,
    }),
    requestCount: new Counter({
      name: 'promptrun_requests_total',
      help: 'Requests answered by this instance',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    runCount: new Counter({
      name: 'promptrun_runs_total',
      help: 'Runs that this instance has created, started or ended',
      labelNames: ['state', 'model'],
      registers,
    }),
    runStartSeconds: new Histogram({
      name: 'promptrun_run_start_seconds',
      help: 'Seconds from the creation of a run to its start by this instance',
      labelNames: ['model'],
      buckets: DURATION_BUCKETS_S,
      registers,
    }),
    runEndSeconds: new Histogram({
      name: 'promptrun_run_end_seconds',
      help: 'Seconds from the creation of a run to its end by this instance',
      labelNames: ['model'],
      buckets: DURATION_BUCKETS_S,
      registers,
    }),
    storeSeconds: new Histogram({
      name: 'promptrun_store_seconds',
      help: 'Seconds that a statement of this instance takes in the store',
      buckets: STORE_BUCKETS_S,
      registers,
    }),
    runningRuns: new Gauge({
      name: 'promptrun_runs_running',
      help: 'Runs that this instance is carrying out',
      registers,
    }),
    queueLength: new Gauge({
      name: 'promptrun_queue_length',
      help: 'Queued runs that this instance could carry out',
      registers,
    }),
  };
}

function createScrapeServer(
  registry: Pick<Registry, 'contentType'>,
  readMetrics: () => Promise<string>,
): Server {
  return createServer((request, response) => {
    const isMetrics = request.url?.split('?', 1)[0] === '/metrics';
    if (!isMetrics || !['GET', 'HEAD'].includes(request.method ?? '')) {
      response
        .writeHead(404, { 'content-type': 'text/plain; charset=utf-8' })
        .end('this address serves only GET /metrics\n');
      return;
    }
    void answerMetrics(response, registry, readMetrics, { isHead: request.method === 'HEAD' });
  });
}

async function answerMetrics(
  response: ServerResponse,
  { contentType }: Pick<Registry, 'contentType'>,
  readMetrics: () => Promise<string>,
  { isHead }: { readonly isHead: boolean },
): Promise<void> {
  try {
    const text = await readMetrics();
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' });
    response.end(isHead ? undefined : text);
  } catch {
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('the store does not answer\n');
  }
}
