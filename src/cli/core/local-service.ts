import type { Transport } from '../../client/transport.ts';

/** The local service as the command line needs it; main.ts connects it to `service/`. */
export interface LocalService {
  /** Starts the service within this process. */
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
  /** The only way to it. */
  readonly transport: Transport;
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
  /**
   * A version of a prompt file, or of a published prompt (its slug, its version id or its own id), that can be run by its
   * id and is otherwise nowhere: in no list, no search, never the latest; with `model` in place of the one it names.
   *
   * @throws {InvalidPromptFile} for the file; UnknownPrompt, UnknownModel for what is not there
   */
  ensureUnlistedVersion(wanted: {
    readonly file?: string;
    readonly promptVersionId?: string;
    readonly slug?: string;
    readonly model?: string;
  }): Promise<{
    readonly promptVersionId: string;
    readonly promptId: string;
    readonly slug: string;
    readonly title: string;
    readonly model: string;
  }>;
  /** False if there is no such published prompt. */
  unpublish(slug: string): Promise<boolean>;
  close(): Promise<void>;
}
