import type { ModelsText } from '../models/catalogue/models-file.ts';
import type { FetchImageOptions } from '../models/outgoing/fetch-image.ts';
import type { Env } from '../utils/env.ts';
import type { Clock } from './core/clock.ts';
import type { ServedRequest } from './http/server.ts';
import type { RunEnd } from './runs/execution/runner.ts';

/** Options of the embedded service and of `serve`. */
export interface CommonOptions {
  dataDir: string;
  /** Maximum time that a creation waits for its run, in milliseconds; default 120,000. */
  syncWindowMs?: number;
  /** Space for the media of a user, in bytes; default 2 GiB. */
  maxMediaBytes?: number | undefined;
  /**
   * Called with a line for the operator about each published prompt, refused file, warning or
   * fault.
   */
  onNotice?: (line: string) => void;
  /** The absolute path of a file with more models, which override those in `models.yaml`. */
  modelsFile?: string | undefined;
  /** More models, which come from no file. */
  declaredModels?: readonly ModelsText[] | undefined;
  /** The absolute working directory of programs; default that of this process. */
  directory?: string | undefined;
  /** The environment with the keys of model providers; default empty. */
  env?: Env;
  /** True to fetch pictures from private addresses and unresolvable names too; default false. */
  allowPrivate?: boolean | undefined;
  clock?: Clock;
  /** Opens the URL of an input picture; default over the network. */
  openUrl?: FetchImageOptions['open'];
  /** The model for prompts that name none; default `echo`. */
  defaultModel?: string | undefined;
  /** Called for each run that ends in this process. */
  onRunEnd?: ((run: RunEndEvent) => void) | undefined;
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
  database?: string | undefined;
  /**
   * A directory for media and inputs, shared by all instances on the database; default the
   * database.
   */
  mediaDir?: string | undefined;
  /**
   * Bucket and prefix for media and input pictures, such as `s3://bucket/prefix`; default no object
   * store.
   */
  media?: string | undefined;
  /** True to rename an existing SQLite file and start a new one; default false. */
  newStore?: boolean | undefined;
  /** The address of `GET /metrics`; default none. */
  metrics?: { readonly host: string; readonly port: number } | undefined;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /**
   * The public origin of the service, for URLs in answers, without a trailing slash; default the
   * request's.
   */
  publicUrl?: string | undefined;
  /** False to leave out the web page at the root; default true. */
  page?: boolean | undefined;
  /** A directory whose prompt files are published at the start and after each change. */
  promptsDir?: string | undefined;
  /** True to run programs as models even if there are several users; default false. */
  allowPrograms?: boolean | undefined;
  /** Maximum number of concurrent runs; default 32. */
  parallel?: number | undefined;
  /** Maximum number of queued runs of a user; default 10,000. */
  maxQueued?: number | undefined;
  /** True to show the templates of prompts only to the user `local`; default false. */
  hideTemplates?: boolean | undefined;
  /** True to rerun once a run whose process died; default true. */
  rerun?: boolean | undefined;
  /** Maximum requests per second for each key; default no limit. */
  rateLimit?: number | undefined;
  /** Time for running runs to end when the service is closed, in milliseconds; default 0. */
  graceMs?: number;
  /** Time for which a draining service still accepts requests, in milliseconds; default 0. */
  drainMs?: number;
  /**
   * Maximum bytes of bodies, fetched pictures and answers in memory, half of them for one user;
   * default 256 MiB.
   */
  maxRequestBytes?: number | undefined;
  /** Called for each request after its answer has been sent. */
  onRequest?: (event: ServedRequest) => void;
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
