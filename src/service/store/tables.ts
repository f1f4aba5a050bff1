import type { RunStatus } from '../../wire/index.ts';

/** Plans a user may have; `none` is answered 402. */
export const PLANS = ['pro', 'none'] as const;
export type Plan = (typeof PLANS)[number];

interface Users {
  id: number;
  name: string;
  plan: Plan;
  /** What is left, reservations taken off. */
  credits: number;
}

interface Keys {
  id: string;
  /** SHA-256 of the key, hexadecimal. */
  hash: string;
  userId: number;
  createdAt: number;
  lastUsedAt: number | null;
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
  publishedAt: number;
}

interface Runs {
  id: string;
  userId: number;
  promptVersionId: string;
  name: string;
  status: RunStatus;
  /** Microseconds since the Unix epoch, unique for each user and growing: the order of the list. */
  createdAt: number;
  /** Reserved while in progress, consumed once succeeded, 0 when failed. */
  credits: number;
  tokens: number;
  /** JSON: StoredOutput[]. */
  outputs: string;
  /** JSON: StoredRequest; null once the run has ended. */
  request: string | null;
  /** The process that has it in hand; null while none has. */
  worker: string | null;
  /** How often a process died while running it. */
  deaths: number;
}

interface Media {
  id: string;
  runId: string;
  mediaType: string;
  size: number;
  createdAt: number;
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
  media: Media;
  settings: Settings;
}
