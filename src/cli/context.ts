import type { PromptService } from '../client/client.ts';
import type { Io } from './io.ts';
import type { Prompter } from './prompter.ts';
import type { PromptCache } from './settings/prompt-cache.ts';
import type { ResourceCache } from './settings/resource-cache.ts';
import type { Settings } from './settings/settings.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The flags every command takes, before and after its name. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly insecureHttp: boolean;
  readonly json: boolean;
  /** A JMESPath expression; implies `json`. */
  readonly query?: string;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly color: boolean;
  /** False with `--no-input`: nothing is ever asked. */
  readonly input: boolean;
  readonly spinner: boolean;
  readonly pager: boolean;
  /** How long to wait, in milliseconds; undefined waits as long as it takes. */
  readonly timeoutMs?: number;
}

/** The time, its passing and chance, injected so that tests need none of them. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1. */
  random(): number;
}

/** Where requests go, with whose key, and what is remembered for the two. */
export interface Connection {
  /** The profile in force; undefined when flags or environment gave base URL and key. */
  readonly profile: string | undefined;
  /** Ends in /v1; the port of the embedded service changes with every process. */
  readonly baseUrl: string;
  /** Names the service in the journal and the caches: the base URL, or `local` for the embedded service. */
  readonly service: string;
  readonly embedded: boolean;
  readonly client: PromptService;
  readonly resources: ResourceCache;
  readonly prompts: PromptCache;
}

/** The local service as the command line needs it; main.ts connects it to `service/`. */
export interface LocalService {
  /** Starts the embedded service on a free loopback port. */
  start(options: { dataDir: string }): Promise<EmbeddedService>;
  /** Runs `serve` until it is told to stop. */
  serve(options: ServeOptions): Promise<RunningService>;
  /** Opens the local store for `keys` and `prompts publish`. */
  open(options: { dataDir: string }): Promise<LocalStore>;
}

export interface EmbeddedService {
  readonly baseUrl: string;
  /** A key of the user `local` that only this process knows and that dies with it. */
  readonly key: string;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly dataDir: string;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly syncWindowMs: number;
  readonly promptsDir?: string;
  /** Requests a second for each key; undefined is unlimited. */
  readonly rateLimit?: number;
  /** How long running runs are given when the service is told to stop, in milliseconds. */
  readonly graceMs: number;
  /** What happens while it serves: prompts published, files refused, warnings. */
  readonly onNotice: (line: string) => void;
}

export interface RunningService {
  readonly baseUrl: string;
  /** The key made on the first start, shown once; undefined on later starts. */
  readonly newKey: string | undefined;
  /** Stops gracefully; resolves when everything is on disk. */
  close(): Promise<void>;
}

export interface LocalKey {
  readonly id: string;
  readonly user: string;
  readonly plan: string;
  readonly credits: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601, or null while never used. */
  readonly lastUsedAt: string | null;
}

export interface PublishedPrompt {
  readonly slug: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly title: string;
  /** False if this very content was the latest version already. */
  readonly changed: boolean;
}

export interface LocalStore {
  createKey(options: {
    user?: string;
    plan?: 'pro' | 'none';
    credits?: number;
  }): Promise<LocalKey & { readonly key: string }>;
  listKeys(): Promise<LocalKey[]>;
  /** False if there is no such key. */
  revokeKey(id: string): Promise<boolean>;
  /** @throws {InvalidPromptFile} (an Error whose message names file and line) */
  publish(file: string): Promise<PublishedPrompt>;
  /** False if there is no such published prompt. */
  unpublish(slug: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Everything a command may use. */
export interface Context {
  readonly io: Io;
  readonly globals: GlobalOptions;
  readonly env: Env;
  readonly cwd: string;
  readonly clock: Clock;
  /** Aborted by the first SIGINT or SIGTERM, with an `Interrupted` as reason. */
  readonly signal: AbortSignal;
  /** Hands every signal to `handler` instead of aborting; returns how to hand them back. */
  onInterrupt(handler: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Whether questions may be asked: a terminal on standard input and error, no `--no-input`, no `CI`. */
  readonly interactive: boolean;
  readonly settings: Settings;
  /** Resolves once base URL and key are known; starts the embedded service where that is the default. The same each time. */
  connection(): Promise<Connection>;
  /** A connection to a service that is not the configured one, with a key that need not be stored. */
  connectTo(peer: { profile: string; baseUrl: string; apiKey: string }): Promise<Connection>;
  /** Loaded when the first question is asked. */
  prompter(): Promise<Prompter>;
  readonly local: LocalService;
  /** The local service's data directory. */
  readonly dataDir: string;
  /** The directory of the journal. */
  readonly stateDir: string;
}
