import type { ModelsText } from '../models/catalogue/models-file.ts';
import type { FetchImageOptions } from '../models/outgoing/fetch-image.ts';
import type { Env } from '../models/outgoing/proxy.ts';
import type { Clock } from './core/clock.ts';
import type { RequestEvent } from './http/server.ts';
import type { RunEnd } from './runs/run-work.ts';

/** What the service needs to know however it is reached. */
export interface CommonOptions {
  dataDir: string;
  /** How long a creation waits for its run, in milliseconds; default 120,000. */
  syncWindowMs?: number;
  /** Bytes of media that are kept for one user; default 2 GiB. */
  maxMediaBytes?: number | undefined;
  /** What happens while it serves: prompts published, files refused, warnings, faults; one line each. */
  onNotice?: (line: string) => void;
  /** A file with more models, absolute; its names win over those of `models.yaml`. */
  modelsFile?: string | undefined;
  /** More models, which stand in no file. */
  declaredModels?: readonly ModelsText[] | undefined;
  /** Where programs start, absolute; default the working directory of this process. */
  directory?: string | undefined;
  /** Where the keys of model providers come from; default none. */
  env?: Env;
  /** Whether pictures may come from private addresses and unresolvable names; default false. */
  allowPrivate?: boolean | undefined;
  clock?: Clock;
  /** Opens the URLs of input pictures; default over the network. */
  openUrl?: FetchImageOptions['open'];
  /** For prompts that are published without a model; default `echo`. */
  defaultModel?: string | undefined;
  /** Called for each run that ended in this process. */
  onRunEnd?: ((run: RunEndEvent) => void) | undefined;
}

/** The end of a run, for the log. */
export interface RunEndEvent extends RunEnd {
  /** Undefined where it could not be found out. */
  readonly user: string | undefined;
}

/** How the service is offered over HTTP. */
export interface ServiceOptions extends CommonOptions {
  /** A URL of PostgreSQL, for a store that several machines share; default a file in the data directory. */
  database?: string | undefined;
  /** A directory that all instances on that database share, for media and inputs; default the database itself. */
  mediaDir?: string | undefined;
  /** A place in an object store for media and input pictures, such as `s3://bucket/prefix`; default none. */
  media?: string | undefined;
  /** Keeps the store that is there under another name, and begins a new one; default false. */
  newStore?: boolean | undefined;
  /** Where `GET /metrics` is served; default nowhere. */
  metrics?: { readonly host: string; readonly port: number } | undefined;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** What media URLs begin with where the service is reached under another name, without a slash at its end. */
  publicUrl?: string | undefined;
  /** Whether the page for people is served at the root; default true. */
  page?: boolean | undefined;
  /** A directory whose prompt files are published, now and on every change. */
  promptsDir?: string | undefined;
  /** Whether programs are run for several users too; default false. */
  allowPrograms?: boolean | undefined;
  /** Runs at a time; default 32. */
  parallel?: number | undefined;
  /** Runs of one user that may be queued; default 10,000. */
  maxQueued?: number | undefined;
  /** Whether only the user `local` sees the templates of prompts; default false. */
  hideTemplates?: boolean | undefined;
  /** Whether a run that its process did not survive is run once more; default true. */
  rerun?: boolean | undefined;
  /** Requests a second for each key; undefined is unlimited. */
  rateLimit?: number | undefined;
  /** What running runs are given when the service is closed, in milliseconds; default 0. */
  graceMs?: number;
  /** How long requests are still taken once it is drained, in milliseconds; default 0. */
  drainMs?: number;
  /** Bytes of bodies, fetched pictures and answers in memory at a time, half of them one user's; default 256 MiB. */
  maxRequestBytes?: number | undefined;
  /** Called for each request once its answer is out. */
  onRequest?: (event: RequestEvent) => void;
}

/** The service over HTTP. */
export interface Service {
  /** Ends in /v1. */
  readonly url: string;
  /** Of the page for people; undefined without one. */
  readonly pageUrl: string | undefined;
  /** Of the metrics; undefined without them. */
  readonly metricsUrl: string | undefined;
  /** The key made on the first start, to be shown once. */
  readonly newKey: string | undefined;
  /** A key of the user `local` that dies with this service and is stored nowhere. */
  readonly sessionKey: string;
  /**
   * Says that it is not ready any more, but answers everything for its `drainMs`, so that a load balancer notices first.
   *
   * @param signal ends that at once
   */
  drain(signal: AbortSignal): Promise<void>;
  /** Takes no new requests, answers creations in flight, gives runs their grace; resolves when all is on disk. */
  close(): Promise<void>;
}
