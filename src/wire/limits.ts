/** Rows of a run list when no `limit` is sent. */
export const DEFAULT_LIST_LIMIT = 10;
/** Most rows one page of runs holds. */
export const MAX_LIST_LIMIT = 50;
/** Most entries `GET /prompts/:promptId/versions` returns. */
export const MAX_VERSIONS = 10;
/** How long the service keeps a creation waiting before it answers 504, in milliseconds. */
export const SYNC_WINDOW_MS = 120_000;
/** How long the URL of a generated image or video lives, in milliseconds. */
export const MEDIA_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Longest search query, in characters after trimming. */
export const MAX_QUERY_LENGTH = 200;
/** Largest input image, in bytes before base64. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Most values in a request body, those within others counted as well. */
export const MAX_BODY_VALUES = 100_000;
/** The path prefix every base URL ends in. */
export const PATH_PREFIX = '/v1';
