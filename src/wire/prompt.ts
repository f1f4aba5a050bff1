import type { LabelMove, PromptLabel } from './labels.ts';

/** One version of a prompt with its input configuration. */
export interface PromptVersion {
  promptVersionId: string;
  promptId: string;
  title: string;
  /** ISO 8601. */
  publishedAt: string;
  /**
   * The inputs that the prompt expects. The interface does not specify its fields; three shapes are
   * known, of which `PromptConfig` is one.
   */
  config: unknown;
}

/** An entry of `GET /prompts/:promptId/versions`. */
export interface PromptVersionEntry {
  promptVersionId: string;
  /** ISO 8601. */
  publishedAt: string;
  /** Present, and true, on the latest version only. */
  isLatest?: true;
  /** The labels that point to this version; only from a local service. */
  labels?: string[];
  /** Label changes that point to this version, newest first; only from a local service. */
  history?: LabelMove[];
}

/** The published versions of a prompt, newest first, at most 10. */
export interface PromptVersionList {
  promptId: string;
  title: string;
  versions: PromptVersionEntry[];
}

/** A search result. */
export interface PromptSearchRow {
  promptId: string;
  /** The latest version. */
  promptVersionId: string;
  title: string;
  description: string;
  slug: string;
  /** Index of the model in the list of `GET /resources`. */
  model: number;
  /** 0 text, 1 image. */
  modality: number;
  estimatedCredits: number;
  uses: number;
  upVotes: number;
  /** ISO 8601. */
  publishedAt: string;
  samples: unknown;
  configs: unknown;
  /** The labels of the prompt; only from a local service. */
  labels?: PromptLabel[];
}

/** Search results, best match first. */
export interface PromptSearchResult {
  rows: PromptSearchRow[];
}

/** A page of the list of published prompts, newest first. */
export interface PromptPage {
  rows: PromptSearchRow[];
  /** True if there are more rows beyond this page, in the direction of paging. */
  hasMore: boolean;
}

/** The query of `GET /prompts`; the cursors are prompt ids. */
export interface PromptListQuery {
  /** 1 to 50, default 10. */
  limit?: number;
  /** Only prompts after this one in the list. */
  startingAfter?: string;
  /** Only prompts before this one in the list. */
  endingBefore?: string;
}

/** A text input of a `PromptConfig`. */
export interface TextInputConfig {
  /**
   * The type of the value that the text represents; `any` if the prompt's schema allows several.
   */
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any';
  description?: string;
  required: boolean;
  default?: string;
  enum?: string[];
  /** The type of a list's items, if its schema names one. */
  items?: { type: string };
}

/** A prompt's config in the shape that the local service uses. */
export interface PromptConfig {
  textInputs: Record<string, TextInputConfig>;
  imageInputs: { name?: string; description?: string }[];
}
