import { NotFoundError } from '../../client/errors.ts';
import type { Connection } from '../context.ts';

/** Returns the answer of a request; undefined if the service answers 404. */
export async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof NotFoundError && error.httpStatus === 404;
}

/**
 * Finds out by a request whether the service is a local one, embedded or a `serve`: only these list
 * their prompts.
 */
export async function detectLocalService(
  { client, isEmbedded }: Connection,
  signal: AbortSignal,
): Promise<boolean> {
  return (
    isEmbedded ||
    (await unlessNotFound(client.prompts.list({ limit: 1 }, { signal }))) !== undefined
  );
}
