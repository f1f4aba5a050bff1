import type { Selectable } from 'kysely';
import type { EngineFault } from '../../../models/engine.ts';
import type { StoredMedia } from '../media-store.ts';
import type { Tables } from '../tables.ts';

/** A stored output. Media have an id, because their URL depends on the instance that serves it. */
export type StoredOutput =
  | { type: 'text' | 'error'; data: string }
  | { type: 'image' | 'video'; media: string; mediaType: string; createdAt: number };

/** The request of a run, from which the run is carried out, and can be repeated. */
export interface StoredRequest {
  textInputs: Record<string, string>;
  /** Media types of the input images. Their bytes are blobs, kept for a day. */
  images: string[];
  /** The URLs of the input images, null for one that was sent as bytes; left out if all were. */
  urls?: (string | null)[];
  runOptions: Record<string, string>;
  /** The `traceparent` of the request that created the run. */
  traceparent?: string;
  /** True if the model is a program, which is never started twice. */
  isProgram?: true;
  /** True if the texts are large and kept as a blob; `textInputs` is empty in the store then. */
  textsApart?: true;
}

/** An idempotency key and the digest of the body that it was sent with. */
export type Idempotency = Pick<Tables['idempotencyKeys'], 'key' | 'digest'>;

/** A new run. Its credits are the reserved estimate. */
export interface NewRun extends Pick<Tables['runs'], NewRunColumn> {
  promptId: string;
  /** The caller's API key, which must still exist; undefined if there is none to check. */
  keyId?: string | undefined;
  /** Size of its input texts, in bytes. */
  textBytes: number;
  status: 'queued' | 'running';
  request: StoredRequest;
  /** True if the run may occupy the user's media space. */
  needsSpace: boolean;
  idempotency?: Idempotency | undefined;
  /** The outcome of a run that has already ended, which is written with the run or not at all. */
  outcome?: RunOutcome | undefined;
}

export type NewRunColumn =
  | 'id'
  | 'userId'
  | 'promptVersionId'
  | 'name'
  | 'model'
  | 'credits'
  | 'inputBytes'
  | 'worker';

/** A run that a worker has claimed. */
export type QueuedRun = Pick<NewRun, 'id' | 'userId' | 'promptVersionId' | 'request' | 'model'> & {
  /** The time in microseconds; default now. */
  readonly createdAt?: number;
  /** Number of workers that died while running it; default 0. */
  readonly deaths?: number;
};

/** The limits of each user. */
export interface UserLimits {
  /** Maximum number of queued runs. */
  maxQueuedRuns: number;
  /** Space for generated media and input images, in bytes. */
  maxMediaBytes: number;
}

/**
 * A creation that the store refused: too few credits, a full queue, too little space, an
 * idempotency key used with another body, a caller without key or plan, or a withdrawn version.
 */
export class CreationRefusedError extends Error {
  constructor(readonly reason: 'credits' | 'queue' | 'space' | 'key' | 'caller' | 'version') {
    super(reason);
  }
}

/** The tokens and cost of a run. */
export type StoredUsage = Omit<Tables['runUsage'], 'runId'>;

/** The end of a run. */
export interface RunOutcome {
  status: 'succeeded' | 'failed';
  outputs: StoredOutput[];
  tokens: number;
  media: StoredMedia[];
  /** undefined if the model needs no provider. */
  usage?: StoredUsage | undefined;
  /** Time of the end, in milliseconds; default not recorded. */
  endedAt?: number | undefined;
  /** True to delete the request; default false. */
  forgetsRequest?: boolean | undefined;
  /** Warnings about omitted parts of the request, one sentence each; default none. */
  warnings?: readonly string[] | undefined;
  /** The fault if no model answered. Known to the worker only, never stored. */
  fault?: EngineFault | undefined;
  /** True if its model was asked and nothing came back. Known to the worker only, never stored. */
  isUnanswered?: boolean | undefined;
}

export const RUN_COLUMNS = [
  'id',
  'promptVersionId',
  'name',
  'status',
  'createdAt',
  'credits',
  'tokens',
  'outputs',
  'warnings',
  'endedAt',
] as const;

export type StoredRun = Omit<SelectedRun, 'outputs' | 'warnings'> & {
  outputs: StoredOutput[];
  warnings: string[];
};

type SelectedRun = Pick<Selectable<Tables['runs']>, (typeof RUN_COLUMNS)[number]>;

export function parseStoredRun<R extends Pick<SelectedRun, 'outputs' | 'warnings'>>(row: R) {
  return {
    ...row,
    outputs: JSON.parse(row.outputs) as StoredOutput[],
    warnings: row.warnings === null ? [] : (JSON.parse(row.warnings) as string[]),
  };
}

/** Returns the outcome of a stored run; undefined if it has not ended. */
export function findOutcome(run: StoredRun | undefined): RunOutcome | undefined {
  if (run?.status !== 'succeeded' && run?.status !== 'failed') return undefined;
  const { status, outputs, tokens, warnings } = run;
  return { status, outputs, tokens, warnings, media: [] };
}

/** A database's own way to create and end runs. */
export interface RunWrites {
  /** @throws {CreationRefusedError} */
  create(run: NewRun, limits: UserLimits, now: number): Promise<string>;
  /**
   * Returns false if the run has already ended. Only endings that change the user's balance wait
   * for each other.
   */
  end(id: string, userId: number, worker: string, outcome: RunOutcome): Promise<boolean>;
  /** Returns the uses of a prompt that are counted but not yet written. */
  countPendingUses(promptId: string): number;
  /** Writes pending uses. */
  flush(): Promise<void>;
}
