import type { ModelsText } from '../models/catalogue/models-file.ts';
import type { FetchImageOptions } from '../models/outgoing/fetch-image.ts';
import type { Env } from '../utils/env.ts';
import type { Clock } from './core/clock.ts';
import type { ServedRequest } from './http/server.ts';
import type { RunEnd } from './runs/execution/runner.ts';

/** Options of the embedded service and of `serve`. */
export interface CommonOptions {
  readonly dataDir: string;
  /** Maximum time that a creation waits for its run, in milliseconds; default 120,000. */
  readonly syncWindowMs?: number | undefined;
  /** Space for the media of a user, in bytes; default 2 GiB. */
  readonly maxMediaBytes?: number | undefined;
  /**
   * Called with a line for the operator about each published prompt, refused file, warning or
   * fault.
   */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** The absolute path of a file with more models, which override those in `models.yaml`. */
  readonly modelsFile?: string | undefined;
  /** More models, which come from no file. */
  readonly declaredModels?: readonly ModelsText[] | undefined;
  /** The absolute working directory of programs; default that of this process. */
  readonly workingDirectory?: string | undefined;
  /** The environment with the keys of model providers; default empty. */
  readonly env?: Env | undefined;
  /** True to fetch images from private addresses and unresolvable names too; default false. */
  readonly allowPrivate?: boolean | undefined;
  readonly clock?: Clock | undefined;
  /** Opens the URL of an input image; default over the network. */
  readonly openUrl?: FetchImageOptions['open'] | undefined;
  /** The model for prompts that name none; default `echo`. */
  readonly defaultModel?: string | undefined;
  /** Called for each run that ends in this process. */
  readonly onRunEnd?: ((run: RunEndEvent) => void) | undefined;
}

export interface RunEndEvent extends RunEnd {
  /** The user's name; undefined if it could not be read. */
  readonly user: string | undefined;
}

/** Options of the service over HTTP. */
export interface ServiceOptions extends CommonOptions {
  /**
   * The URL of a PostgreSQL database that several machines may share; default an SQLite file in the
   * data directory.
   */
  readonly databaseUrl?: string | undefined;
  /**
   * A directory for media and inputs, shared by all instances on the database; default the
   * database.
   */
  readonly mediaDir?: string | undefined;
  /**
   * Bucket and prefix for media and input images, such as `s3://bucket/prefix`; default no object
   * store.
   */
  readonly mediaBucketUrl?: string | undefined;
  /** True to rename an existing SQLite file and start a new one; default false. */
  readonly newStore?: boolean | undefined;
  /** The address that `GET /metrics` listens on; default none. */
  readonly metricsAddress?: { readonly host: string; readonly port: number } | undefined;
  /** The address that it listens on; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** The port that it listens on; default 0, any free one. */
  readonly port?: number | undefined;
  /**
   * The public origin of the service, for URLs in answers, without a trailing slash; default the
   * request's.
   */
  readonly publicUrl?: string | undefined;
  /** False to leave out the web page at the root; default true. */
  readonly servePage?: boolean | undefined;
  /** A directory whose prompt files are published at the start and after each change. */
  readonly promptsDir?: string | undefined;
  /** True to run programs as models even if there are several users; default false. */
  readonly allowPrograms?: boolean | undefined;
  /** Maximum number of concurrent runs; default 32. */
  readonly maxConcurrentRuns?: number | undefined;
  /** Maximum number of queued runs of a user; default 10,000. */
  readonly maxQueuedRunsPerUser?: number | undefined;
  /** True to show the templates of prompts only to the user `local`; default false. */
  readonly hideTemplates?: boolean | undefined;
  /** True to rerun once a run whose process died; default true. */
  readonly rerun?: boolean | undefined;
  /** Maximum requests per second for each key; default no limit. */
  readonly rateLimit?: number | undefined;
  /** Time for running runs to end when the service is closed, in milliseconds; default 0. */
  readonly graceMs?: number | undefined;
  /** Time for which a draining service still accepts requests, in milliseconds; default 0. */
  readonly drainMs?: number | undefined;
  /**
   * Maximum bytes of bodies, fetched images and answers in memory, half of them for one user;
   * default 256 MiB.
   */
  readonly maxRequestBytes?: number | undefined;
  /** Called for each request after its answer has been sent. */
  readonly onRequest?: ((event: ServedRequest) => void) | undefined;
}

/** The service over HTTP. */
export interface Service {
  /** The base URL, which ends in /v1. */
  readonly url: string;
  /** The URL of the web page; undefined if there is none. */
  readonly pageUrl: string | undefined;
  /** The URL of the metrics; undefined if there are none. */
  readonly metricsUrl: string | undefined;
  /** The key created on the first start, to be displayed once. */
  readonly newKey: string | undefined;
  /** A key of the user `local` that is never stored, and ends with this service. */
  readonly sessionKey: string;
  /**
   * Reports not ready, but answers requests for `drainMs`, so that load balancers notice first.
   *
   * @param signal ends the wait at once
   */
  drain(signal: AbortSignal): Promise<void>;
  /**
   * Refuses new requests, gives runs their grace period, answers creations in flight, and closes
   * the store.
   */
  close(): Promise<void>;
}
