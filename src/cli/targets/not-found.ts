import { NotFoundError } from '../../client/errors.ts';
import type { Connection } from '../context.ts';

/** Returns true for a local service, embedded or a `serve`: only these list their prompts. */
export async function isLocalService(
  { client, isEmbedded }: Connection,
  signal: AbortSignal,
): Promise<boolean> {
  return (
    isEmbedded ||
    (await unlessNotFound(client.prompts.list({ limit: 1 }, { signal }))) !== undefined
  );
}

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
