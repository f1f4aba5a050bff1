/** Rows of a run list when no `limit` is sent (interface §4.1, §8). */
export const DEFAULT_LIST_LIMIT = 10;
/** Most rows one page of runs holds (interface §4.1, §8). */
export const MAX_LIST_LIMIT = 50;
/** Most entries `GET /prompts/:promptId/versions` returns (interface §4.5, §8). */
export const MAX_VERSIONS = 10;
/** How long the service keeps a creation waiting before it answers 504, in milliseconds (interface §4.2, §8). */
export const SYNC_WINDOW_MS = 120_000;
/** How long the URL of a generated image or video lives, in milliseconds (interface §2, §8). */
export const MEDIA_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Longest search query, in characters after trimming (service-facts, search). */
export const MAX_QUERY_LENGTH = 200;
/** Largest input image, in bytes before base64 (service-facts, decisions). */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Largest request body, in bytes (service-facts, decisions). */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Most values in a request body, those within others counted as well (service-facts, decisions). */
export const MAX_BODY_VALUES = 100_000;
/** The path prefix every base URL ends in (interface, introduction and §9). */
export const PATH_PREFIX = '/v1';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a prompt, prompt version or run identifier (interface §2). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
