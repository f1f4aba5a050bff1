/** Returns the message of a thrown value, which may not be an Error. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns true for the error of a write to a full disk, or past a quota. */
export function isDiskFullError(error: unknown): boolean {
  return /^(ENOSPC|EDQUOT)$/.test(getErrorCode(error) ?? '');
}

/**
 * Returns the result of a file operation; undefined if the file is missing.
 *
 * @throws any other error of the operation
 */
export async function ignoreMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the code of an error, such as Node's `ENOENT`; undefined if it has none. */
export function getErrorCode(thrown: unknown): string | undefined {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
