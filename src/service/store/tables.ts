import type { Generated } from 'kysely';
import type { RunStatus } from '../../wire/index.ts';
import type { Plan } from '../core/caller.ts';

interface Users {
  id: Generated<number>;
  name: string;
  plan: Plan;
  /** What is left, reservations taken off. */
  credits: number;
  /** The `createdAt` of the newest run: microseconds, 0 before the first. */
  lastRunAt: Generated<number>;
  /** Bytes of generated media and of input images. */
  mediaBytes: Generated<number>;
}

interface Keys {
  id: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  userId: number;
  createdAt: number;
  lastUsedAt: number | null;
  /** 1 for one whose holder may publish. */
  author: Generated<number>;
}

interface Prompts {
  id: string;
  slug: string;
  /** null while the prompt is withdrawn. */
  latestVersionId: string | null;
  uses: number;
}

interface PromptVersions {
  id: string;
  promptId: string;
  title: string;
  description: string;
  model: string;
  source: string;
  /** JSON: what the source was parsed to, its partials included. */
  parsed: string | null;
  publishedAt: number;
  /** 1 for a version that was never published: it can be run and read by its id, and is in no list. */
  unlisted: Generated<number>;
}

interface Runs {
  id: string;
  userId: number;
  promptVersionId: string;
  name: string;
  /** What the run asks of the process that runs it; '' where any will do. */
  model: string;
  status: RunStatus;
  /** Microseconds since the Unix epoch, unique for each user and growing: the order of the list. */
  createdAt: number;
  /** Reserved while in progress, consumed once succeeded, 0 when failed. */
  credits: number;
  tokens: Generated<number>;
  /** JSON: StoredOutput[]. */
  outputs: Generated<string>;
  /** JSON: the texts of what was left out of the request; null if nothing was. */
  warnings: Generated<string | null>;
  /** JSON: StoredRequest; null of runs that ended before these were kept. */
  request: string | null;
  /** The process that carries it out; null while none does. */
  worker: string | null;
  /** How often a process died while running it. */
  deaths: Generated<number>;
  /** Of the input images; 0 once they are gone. */
  inputBytes: number;
  /** In milliseconds; null while it goes on, and of runs that ended in an earlier version or were given up. */
  endedAt: Generated<number | null>;
  /** Of the input texts, which count against the user's space until the run has ended. */
  textBytes: Generated<number>;
}

/** The version that a label of a prompt leads to. */
interface Labels {
  promptId: string;
  label: string;
  promptVersionId: string;
}

/** The journal of labels. */
interface LabelMoves {
  id: Generated<number>;
  promptId: string;
  label: string;
  /** null for a label that was not there. */
  fromVersionId: string | null;
  /** null for a removal. */
  toVersionId: string | null;
  movedAt: number;
  /** A user's name. */
  movedBy: string;
}

/** Which run a creation gave, by the key that its caller sent with it. */
interface IdempotencyKeys {
  userId: number;
  key: string;
  /** Of the request body. */
  digest: string;
  runId: string;
  createdAt: number;
}

interface Media {
  id: string;
  runId: string;
  userId: number;
  mediaType: string;
  size: number;
  createdAt: number;
}

/** What a run used of its provider, and cost; kept with its end. */
interface RunUsage {
  runId: string;
  /** By the name that prompts use. */
  model: string;
  /** Tokens; null if the provider did not count. */
  input: number | null;
  output: number | null;
  cached: number | null;
  /** In millionths of a US cent; null if nobody knows. */
  cost: number | null;
  /** 1 if the cost comes from the kept table of prices. */
  estimated: number;
  /** How many answers it asked for (`n`). */
  answers: number;
}

interface Settings {
  key: string;
  value: string;
}

/** Every table of the store; times are milliseconds since the Unix epoch except where said. */
export interface Tables {
  users: Users;
  keys: Keys;
  prompts: Prompts;
  promptVersions: PromptVersions;
  runs: Runs;
  labels: Labels;
  labelMoves: LabelMoves;
  idempotencyKeys: IdempotencyKeys;
  media: Media;
  runUsage: RunUsage;
  settings: Settings;
}
