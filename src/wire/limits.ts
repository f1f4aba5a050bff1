/** Number of rows in a run list if no `limit` is sent. */
export const DEFAULT_LIST_LIMIT = 10;

/** Maximum number of rows in a page of runs. */
export const MAX_LIST_LIMIT = 50;

/** Maximum number of entries that `GET /prompts/:promptId/versions` returns. */
export const MAX_VERSIONS = 10;

/**
 * The time for which the service waits for a new run to end before it answers 504, in milliseconds.
 */
export const SYNC_WINDOW_MS = 120_000;

/** Lifetime of the URL of a generated image or video, in milliseconds. */
export const MEDIA_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Maximum length of a search query, in characters after trimming. */
export const MAX_QUERY_LENGTH = 200;

/** Maximum size of an input image, in bytes before base64. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Maximum size of a request body, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Maximum number of values in a request body, nested ones included. */
export const MAX_BODY_VALUES = 100_000;

/** The path that every base URL ends with. */
export const PATH_PREFIX = '/v1';
