/** Resolves with `work`. @throws the signal's reason if it is aborted first */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: ended.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    ended.abort();
  }
}
