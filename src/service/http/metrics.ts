import { createServer, type Server, type ServerResponse } from 'node:http';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import type { Meter } from '../core/meter.ts';

/** The gauges that are read on each request. */
export interface MetricSources {
  /** Returns the number of runs that this instance carries out. */
  readonly running: () => number;
  /** Returns the number of queued runs that this instance could carry out. */
  readonly queued: () => Promise<number>;
}

/**
 * A meter that serves its figures in Prometheus' text format. No label holds a user, key, id or
 * text.
 */
export interface Metrics extends Meter {
  /** Returns a server for `GET /metrics` alone. */
  readonly server: (sources: MetricSources) => Server;
}

const COUNTED_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
]);

/** Histogram buckets in seconds: a text takes one, a video minutes. */
const RUN_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const STORE_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const instruments = createInstruments(registry);
  return {
    requestAnswered({ method, route = 'none', httpStatus, durationMs }) {
      const labels = {
        method: COUNTED_METHODS.has(method) ? method : 'other',
        route,
        status: String(httpStatus),
      };
      instruments.requestCount.inc(labels);
      instruments.requests.observe(labels, durationMs / 1000);
    },
    runCreated: model => instruments.runs.inc({ state: 'created', model }),
    runStarted(model, afterMs) {
      instruments.runs.inc({ state: 'started', model });
      instruments.startSeconds.observe({ model }, afterMs / 1000);
    },
    runEnded(model, status, afterMs) {
      instruments.runs.inc({ state: status, model });
      instruments.endSeconds.observe({ model }, afterMs / 1000);
    },
    queryEnded: durationMs => instruments.store.observe(durationMs / 1000),
    server: ({ running, queued }) => {
      return createMetricsServer(registry, async () => {
        instruments.runningNow.set(running());
        instruments.queueLength.set(await queued());
        return await registry.metrics();
      });
    },
  };
}

function createInstruments(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Histogram({
      name: 'promptrun_request_seconds',
      help: 'Requests answered by this instance, and how long each took',
      labelNames: ['method', 'route', 'status'],
      buckets: RUN_BUCKETS,
      registers,
    }),
    requestCount: new Counter({
      name: 'promptrun_requests_total',
      help: 'Requests answered by this instance',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    runs: new Counter({
      name: 'promptrun_runs_total',
      help: 'Runs that this instance has created, started or ended',
      labelNames: ['state', 'model'],
      registers,
    }),
    startSeconds: new Histogram({
      name: 'promptrun_run_start_seconds',
      help: 'Seconds from the creation of a run to its start by this instance',
      labelNames: ['model'],
      buckets: RUN_BUCKETS,
      registers,
    }),
    endSeconds: new Histogram({
      name: 'promptrun_run_end_seconds',
      help: 'Seconds from the creation of a run to its end by this instance',
      labelNames: ['model'],
      buckets: RUN_BUCKETS,
      registers,
    }),
    store: new Histogram({
      name: 'promptrun_store_seconds',
      help: 'Seconds that a statement of this instance takes in the store',
      buckets: STORE_BUCKETS,
      registers,
    }),
    runningNow: new Gauge({
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

function createMetricsServer(
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
