/** How the local service is offered over HTTP. */
export interface ServeOptions {
  readonly dataDir: string;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly syncWindowMs: number;
  readonly promptsDir?: string;
  /** Requests a second for each key; undefined is unlimited. */
  readonly rateLimit?: number;
  /** Runs of one user that may be queued; default 10,000. */
  readonly maxQueued?: number;
  /** A URL of PostgreSQL, for a store that several machines share. */
  readonly database?: string | undefined;
  /** A directory that all instances on that database share, for media and inputs. */
  readonly mediaDir?: string;
  /** Keeps the store that is there under another name, and begins a new one. */
  readonly newStore?: boolean;
  /** How long running runs are given when the service is stopped, in milliseconds. */
  readonly graceMs: number;
  /** What media URLs begin with, and a name requests may come under, without a slash at its end. */
  readonly publicUrl?: string;
  /** What happens while it serves: prompts published, files refused, warnings. */
  readonly onNotice: (line: string) => void;
  /** Called for each request once its answer is out. */
  readonly onRequest?: (request: ServedRequest) => void;
  /** Called for each run that ended. */
  readonly onRunEnd?: (run: EndedRun) => void;
}

/** A request that was answered. */
export interface ServedRequest {
  /** Undefined where the key was missing or unknown. */
  readonly user: string | undefined;
  readonly method: string;
  /** Without its query, which may hold a signature. */
  readonly path: string;
  readonly httpStatus: number;
  readonly durationMs: number;
}

/** A run that ended, in this process. */
export interface EndedRun {
  readonly runId: string;
  /** Undefined where it could not be found out. */
  readonly user: string | undefined;
  readonly status: string;
  /** From its start, in milliseconds. */
  readonly durationMs: number;
}

export interface RunningService {
  readonly baseUrl: string;
  /** The key made on the first start, shown once; undefined on later starts. */
  readonly newKey: string | undefined;
  /** Stops gracefully; resolves when everything is on disk. */
  close(): Promise<void>;
}
