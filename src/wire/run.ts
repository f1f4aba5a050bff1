/** Every value of `runStatus` and of the list's status filter. */
export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The output types a service is known to send. */
export const OUTPUT_TYPES = ['text', 'image', 'video', 'error'] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

/** One output of a run. A service may send types that are not known yet. */
export interface OutputItem {
  type: OutputType | (string & {});
  /** The text, the media URL or the error message, by `type`. */
  data: string;
}

/** Whether an output is a URL of something generated. */
export function isMedia({ type, data }: OutputItem): boolean {
  return (type === 'image' || type === 'video') && typeof data === 'string';
}

/** Returns true once a run has come to its end. */
export function isOver(run: Pick<Run, 'runStatus'>): boolean {
  return run.runStatus === 'succeeded' || run.runStatus === 'failed';
}

/** A run as creation and retrieval give it. */
export interface Run {
  runId: string;
  /** Empty while the run is in progress. */
  outputs: OutputItem[];
  runStatus: RunStatus;
  /** Service tokens consumed; 0 while in progress. */
  tokens: number;
  /** What was left out of the request to the model; only of promptrun's own service, and only if something was. */
  warnings?: string[];
}

/** A run as the list gives it: with credits, without tokens. */
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
  /** Only in the answer to a query for this key, by a service that knows it. */
  idempotencyKey?: string;
  /** Only in the answer to a query for it, by promptrun's own service. */
  usage?: RunUsage;
  /** ISO 8601; null if it is not known, or not yet. Only in the answer to a query for it, by promptrun's own service. */
  endedAt?: string | null;
}

/** What a run used of its model. */
export interface RunUsage {
  model: string;
  /** As the provider counts them, cached ones among the input; null if it did not. */
  tokens: { input: number; output: number; cached: number } | null;
  /** In US dollars; null if it is not known, or not yet. */
  cost: number | null;
  /** Whether the price comes from a table that is kept with the service. */
  estimated: boolean;
}

/** One page of runs, newest first. */
export interface RunPage {
  rows: RunRow[];
  /** Whether more rows exist beyond this page, in the direction of paging. */
  hasMore: boolean;
}

/** What `GET /runs` may be asked. */
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
  /** The one run that the creation with this key made; a service that does not know this ignores it. */
  idempotencyKey?: string;
  /** Whether rows tell what their runs used, default no; a service that does not know this ignores it. */
  usage?: 'true' | 'false';
  /** Whether rows tell when their runs ended, likewise. */
  times?: 'true' | 'false';
}

/** Discriminators of an image input. */
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
  /** Omitted means defaults. */
  runOptions?: Record<string, string>;
}

/** Run option keys the interface and public documentation name; `GET /resources` stays the authority. */
export const KNOWN_RUN_OPTION_KEYS = [
  'reasoningEffort',
  'quality',
  'size',
  'aspectRatio',
  'seconds',
] as const;

/** What a 504 of run creation carries. */
export interface RunReference {
  runId: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns true for a text that has the form of a prompt, prompt version or run identifier. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
