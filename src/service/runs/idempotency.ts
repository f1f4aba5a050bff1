import { createHash } from 'node:crypto';
import { IDEMPOTENCY_KEY_HEADER } from '../../wire/index.ts';
import { invalid } from '../http/api-error.ts';
import type { Idempotency } from '../store/run-records.ts';

const MAX_KEY_LENGTH = 255;

/** What the store keeps of a creation's `Idempotency-Key`; undefined where none was sent. */
export function idempotencyOf(key: string | undefined, body: unknown): Idempotency | undefined {
  if (key === undefined) return undefined;
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw invalid(`${IDEMPOTENCY_KEY_HEADER} must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  const digest = createHash('sha256').update(JSON.stringify(body, sortKeys)).digest('base64url');
  return { key, digest };
}

/** The order in which the fields of an object were sent makes no other body of it. */
function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
