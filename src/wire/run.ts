/** Every value of `runStatus` and of the list's status filter. */
export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The known output types. */
export const OUTPUT_TYPES = ['text', 'image', 'video', 'error'] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

/** One output of a run. A service may send types that are not known here. */
export interface OutputItem {
  type: OutputType | (string & {});
  /** The text, the media URL or the error message, depending on `type`. */
  data: string;
}

/** Returns true if an output is the URL of generated media. */
export function isMedia({ type, data }: OutputItem): boolean {
  return (type === 'image' || type === 'video') && typeof data === 'string';
}

/** Returns true if a run has ended. */
export function isOver(run: Pick<Run, 'runStatus'>): boolean {
  return run.runStatus === 'succeeded' || run.runStatus === 'failed';
}

/** A run as creation and retrieval return it. */
export interface Run {
  runId: string;
  /** The outputs; empty while the run is in progress. */
  outputs: OutputItem[];
  runStatus: RunStatus;
  /** Service tokens consumed; 0 while in progress. */
  tokens: number;
  /**
   * The options that were left out of the request to the model, if any; only from a local service.
   */
  warnings?: string[];
}

/** A run as the list shows it: with credits, without tokens. */
export interface RunRow {
  runId: string;
  promptVersionId: string;
  outputs: OutputItem[];
  runStatus: RunStatus;
  /** null if the run was free. */
  credits: number | null;
  runName: string;
  /** ISO 8601. */
  createdAt: string;
  /**
   * The key of the creation; only in the answer to a query for this key, from a service that keeps
   * idempotency keys.
   */
  idempotencyKey?: string;
  /** The tokens and the cost; only in the answer to a query with `usage`, from a local service. */
  usage?: RunUsage;
  /**
   * ISO 8601; null if unknown or not ended. Only in the answer to a query with `times`, from a
   * local service.
   */
  endedAt?: string | null;
}

/** The model of a run, its tokens and cost. */
export interface RunUsage {
  model: string;
  /**
   * The tokens as the provider counts them, with cached tokens included in `input`; null if it
   * reported none.
   */
  tokens: { input: number; output: number; cached: number } | null;
  /** The cost in US dollars; null if it is unknown or the run has not ended. */
  cost: number | null;
  /** True if the price comes from the bundled price table. */
  estimated: boolean;
}

/** A page of runs, newest first. */
export interface RunPage {
  rows: RunRow[];
  /** True if there are more rows beyond this page, in the direction of paging. */
  hasMore: boolean;
}

/** The query of `GET /runs`. */
export interface RunListQuery {
  /** 1 to 50, default 10. */
  limit?: number;
  /** Only runs created before this run. */
  startingAfter?: string;
  /** Only runs created after this run. */
  endingBefore?: string;
  status?: RunStatus;
  /** Unix seconds; runs created at or after it. */
  since?: number;
  /** Unix seconds; runs created before it. */
  until?: number;
  /**
   * Lists only the run that the creation with this key made; ignored by services that don't keep
   * keys.
   */
  idempotencyKey?: string;
  /** `true` adds `usage` to rows; ignored by services other than a local one. */
  usage?: 'true' | 'false';
  /** `true` adds `endedAt` to rows; ignored by services other than a local one. */
  times?: 'true' | 'false';
}

/** The values of `type` in an image input. */
export const IMAGE_INPUT_TYPES = ['url', 'base64'] as const;

/** An input image: a public https URL, or base64 without a data URL prefix. */
export type ImageInput = { type: 'url'; url: string } | { type: 'base64'; base64: string };

/** The inputs of a run. */
export interface RunInputs {
  textInputs?: Record<string, string>;
  imageInputs?: ImageInput[];
}

/** The body of `POST /runs`. */
export interface CreateRunRequest {
  promptVersionId: string;
  inputs: RunInputs;
  /** Omitted options get the model's defaults. */
  runOptions?: Record<string, string>;
}

/** Run option keys that the interface document names; `GET /resources` is the authority. */
export const KNOWN_RUN_OPTION_KEYS = [
  'reasoningEffort',
  'quality',
  'size',
  'aspectRatio',
  'seconds',
] as const;

/** The data of a 504 answer to a creation. */
export interface RunReference {
  runId: string;
}

/** Matches an id such as `6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11`. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns true if a text has the form of a prompt, prompt version or run id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
