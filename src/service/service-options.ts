import type { Clock } from './clock.ts';
import type { Env } from './outgoing/proxy.ts';

export interface ServiceOptions {
  dataDir: string;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** How long a creation waits for its run, in milliseconds; default 120,000. */
  syncWindowMs?: number;
  /** A directory whose prompt files are published, now and on every change. */
  promptsDir?: string | undefined;
  /** Requests a second for each key; undefined is unlimited. */
  rateLimit?: number | undefined;
  /** What running runs are given when the service is closed, in milliseconds; default 0. */
  graceMs?: number;
  /** Runs at a time; default 32. */
  parallel?: number;
  /** Runs of one user that may be queued; default 10,000. */
  maxQueued?: number | undefined;
  /** Bytes of media that are kept for one user; default 2 GiB. */
  maxMediaBytes?: number | undefined;
  /** What happens while it serves: prompts published, files refused, warnings, faults; one line each. */
  onNotice?: (line: string) => void;
  /** For one caller, perhaps only for a moment: makes no key on the first start, and is slow to take up runs of others. */
  embedded?: boolean;
  /** Where the keys of model providers come from; default none. */
  env?: Env;
  clock?: Clock;
}

export interface Service {
  /** Ends in /v1. */
  readonly url: string;
  /** The key made on the first start, to be shown once. */
  readonly newKey: string | undefined;
  /** A key of the user `local` that dies with this service and is stored nowhere. */
  readonly sessionKey: string;
  /** Takes no new requests, answers creations in flight, gives runs their grace; resolves when all is on disk. */
  close(): Promise<void>;
}
