/** Counts the memory of a request and its answer against the limit for all requests. */
export interface RequestMemory {
  /**
   * Reserves bytes.
   *
   * @throws {Refusal} TOO_MANY if there is no room now, TOO_LARGE if there never is
   */
  reserve(bytes: number): void;
  /** Releases the request's bytes, at the latest when it is answered; further calls do nothing. */
  release(): void;
  /** Reserves bytes for the answer until it is sent; throws like `reserve`. */
  reserveForAnswer(bytes: number): void;
}

/** Counts nothing, for processes that serve only one caller. */
export const UNCOUNTED_MEMORY: RequestMemory = {
  reserve: () => {},
  release: () => {},
  reserveForAnswer: () => {},
};
