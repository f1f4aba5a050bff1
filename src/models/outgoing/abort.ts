/** Resolves with `work`. @throws the signal's reason if it is aborted first */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let end = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  try {
    // Even if the signal is already aborted, because nobody else handles a later rejection of the work.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
