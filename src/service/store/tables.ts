import type { Generated } from 'kysely';
import type { RunStatus } from '../../wire/index.ts';
import type { UserPlan } from '../core/caller.ts';

interface UsersTable {
  id: Generated<number>;
  name: string;
  plan: UserPlan;
  /** The remaining credits, without reserved ones. */
  credits: number;
  /** The `createdAt` of the newest run: microseconds, 0 before the first. */
  lastRunAt: Generated<number>;
  /** Size of generated media and input images, in bytes. */
  mediaBytes: Generated<number>;
}

interface KeysTable {
  id: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  userId: number;
  createdAt: number;
  lastUsedAt: number | null;
  /** 1 if the key may publish. */
  author: Generated<number>;
}

interface PromptsTable {
  id: string;
  slug: string;
  /** null while the prompt is withdrawn. */
  latestVersionId: string | null;
  uses: number;
}

interface PromptVersionsTable {
  id: string;
  promptId: string;
  title: string;
  description: string;
  model: string;
  source: string;
  /** JSON: the parsed source with its partials. */
  parsed: string | null;
  publishedAt: number;
  /** 1 for a version that was never published: it can be run and read by id, but is not listed. */
  unlisted: Generated<number>;
}

interface RunsTable {
  id: string;
  userId: number;
  promptVersionId: string;
  name: string;
  /** The model that the worker must offer; '' if any worker will do. */
  model: string;
  status: RunStatus;
  /** Microseconds since the Unix epoch, unique and growing for each user: the order of the list. */
  createdAt: number;
  /** Reserved while in progress, consumed once succeeded, 0 once failed. */
  credits: number;
  tokens: Generated<number>;
  /** JSON: StoredOutput[]. */
  outputs: Generated<string>;
  /** JSON: warnings about omitted parts of the request; null if there are none. */
  warnings: Generated<string | null>;
  /** JSON: StoredRequest; null if it was deleted, or in runs of older releases. */
  request: string | null;
  /** The worker that holds the run; null if none does. */
  worker: string | null;
  /** Number of workers that died while running it. */
  deaths: Generated<number>;
  /** Size of the input images, in bytes; 0 once they are deleted. */
  inputBytes: number;
  /**
   * The time of the end in milliseconds; null for unfinished runs, abandoned ones and those of
   * older releases.
   */
  endedAt: Generated<number | null>;
  /**
   * Size of the input texts, in bytes, which counts against the user's space until the run has
   * ended.
   */
  textBytes: Generated<number>;
}

/** The version that a label of a prompt points to. */
interface LabelsTable {
  promptId: string;
  label: string;
  promptVersionId: string;
}

interface LabelMovesTable {
  id: Generated<number>;
  promptId: string;
  label: string;
  /** null if the label is new. */
  fromVersionId: string | null;
  /** null if the label is removed. */
  toVersionId: string | null;
  movedAt: number;
  /** The name of the user. */
  movedBy: string;
}

/** The runs that idempotency keys created. */
interface IdempotencyKeysTable {
  userId: number;
  key: string;
  /** Digest of the request body. */
  digest: string;
  runId: string;
  createdAt: number;
}

interface MediaTable {
  id: string;
  runId: string;
  userId: number;
  mediaType: string;
  size: number;
  createdAt: number;
}

/** The tokens and cost of a run, written when it ends. */
interface RunUsageTable {
  runId: string;
  /** The name that prompts use. */
  model: string;
  /** Tokens; null if the provider reported none. */
  input: number | null;
  output: number | null;
  cached: number | null;
  /** The cost in millionths of a US cent; null if unknown. */
  cost: number | null;
  /** 1 if the cost is computed from the price table. */
  estimated: number;
  /** Number of requested answers (`n`). */
  answers: number;
}

interface SettingsTable {
  key: string;
  value: string;
}

/** All tables of the store. Times are milliseconds since the Unix epoch unless noted. */
export interface Tables {
  users: UsersTable;
  keys: KeysTable;
  prompts: PromptsTable;
  promptVersions: PromptVersionsTable;
  runs: RunsTable;
  labels: LabelsTable;
  labelMoves: LabelMovesTable;
  idempotencyKeys: IdempotencyKeysTable;
  media: MediaTable;
  runUsage: RunUsageTable;
  settings: SettingsTable;
}
