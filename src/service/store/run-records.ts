import type { Selectable } from 'kysely';
import type { EngineFault } from '../../models/engine.ts';
import type { StoredMedia } from './media-store.ts';
import type { Tables } from './tables.ts';

/** An output as it is kept: media by id, since its URL depends on who serves it. */
export type StoredOutput =
  | { type: 'text' | 'error'; data: string }
  | { type: 'image' | 'video'; media: string; mediaType: string; createdAt: number };

/** What a run needs to be run, and to be run once more. */
export interface StoredRequest {
  textInputs: Record<string, string>;
  /** Media types of the input images, whose bytes are kept apart for a while. */
  images: string[];
  /** Where the input images came from, null for one that was sent itself; left out where all were. */
  urls?: (string | null)[];
  runOptions: Record<string, string>;
  /** The `traceparent` of the request that created it. */
  traceparent?: string;
  /** True if the texts are large and kept apart: then the store has none here. */
  textsApart?: true;
}

/** What a caller sent along to have a creation made once only. */
export type Idempotency = Pick<Tables['idempotencyKeys'], 'key' | 'digest'>;

/** A run as it is created; its credits are the estimate that is reserved. */
export interface NewRun extends Pick<Tables['runs'], NewColumn> {
  promptId: string;
  /** The key that it is created with, which has to be there still; undefined if there is none to check. */
  keyId?: string | undefined;
  /** Bytes of its input texts. */
  textBytes: number;
  status: 'queued' | 'running';
  request: StoredRequest;
  /** Whether it will keep anything in the user's share of the disk. */
  needsSpace: boolean;
  idempotency?: Idempotency | undefined;
  /** How it has ended already: it is on disk with its end or not at all. */
  outcome?: Outcome | undefined;
}

type NewColumn = 'id' | 'userId' | 'promptVersionId' | 'name' | 'model' | 'credits' | 'inputBytes' | 'worker';

/** A run in a worker's hands. */
export type QueuedRun = Pick<NewRun, 'id' | 'userId' | 'promptVersionId' | 'request' | 'model'> & {
  /** In microseconds; default now. */
  readonly createdAt?: number;
  /** How often a process has died while running it; default 0. */
  readonly deaths?: number;
};

/** What a user may have at once. */
export interface UserLimits {
  /** Runs that are queued. */
  queued: number;
  /** Bytes of generated media and of input images. */
  mediaBytes: number;
}

/**
 * A creation that is not kept: too few credits, a full queue, too little space, its idempotency key was sent with another
 * body, its caller's key or plan is gone, or its version is withdrawn.
 */
export class CreationRefused extends Error {
  constructor(readonly reason: 'credits' | 'queue' | 'space' | 'key' | 'caller' | 'version') {
    super(reason);
  }
}

/** What a run used and cost. */
export type RunUsage = Omit<Tables['runUsage'], 'runId'>;

/** How a run ended. */
export interface Outcome {
  status: 'succeeded' | 'failed';
  outputs: StoredOutput[];
  tokens: number;
  media: StoredMedia[];
  /** undefined for a model that needs no provider. */
  usage?: RunUsage | undefined;
  /** When it ended, in milliseconds; not kept by default. */
  endedAt?: number | undefined;
  /** True to keep the run without its request; default false. */
  forgetsRequest?: boolean | undefined;
  /** What was left out of the request, one sentence each; nothing by default. */
  warnings?: readonly string[] | undefined;
  /** Why it failed before a model answered; only the process that carried the run out knows it, the store does not. */
  fault?: EngineFault | undefined;
}

/** The columns of a run that are read. */
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

/** A run as it is read. */
export type StoredRun = Omit<SelectedRun, 'outputs' | 'warnings'> & {
  outputs: StoredOutput[];
  warnings: string[];
};

type SelectedRun = Pick<Selectable<Tables['runs']>, (typeof RUN_COLUMNS)[number]>;

/** A run as it is read, from its row. */
export function storedRun<R extends Pick<SelectedRun, 'outputs' | 'warnings'>>(row: R) {
  return {
    ...row,
    outputs: JSON.parse(row.outputs) as StoredOutput[],
    warnings: row.warnings === null ? [] : (JSON.parse(row.warnings) as string[]),
  };
}

/** Creates and ends runs in a way of a database's own. */
export interface RunWrites {
  /** Throws CreationRefused. */
  create(run: NewRun, limits: UserLimits, now: number): Promise<string>;
  /** False if the run has ended already. Only an ending that changes what its user has waits for the user's other ones. */
  end(id: string, userId: number, worker: string, outcome: Outcome): Promise<boolean>;
  /** Uses of a prompt that are not written down yet. */
  pendingUses(promptId: string): number;
  /** Writes them down. */
  flush(): Promise<void>;
}
