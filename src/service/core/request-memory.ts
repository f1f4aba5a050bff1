/** Counts what a request and its answer keep in memory, against what all of them may. */
export interface RequestMemory {
  /** Throws Refusal: TOO_MANY for more bytes than there is room for now, TOO_LARGE for more than ever. */
  take(bytes: number): void;
  /** Says, at the latest with the answer, that nothing of it is in memory any longer; further calls do nothing. */
  free(): void;
  /** Counts what the answer will keep in memory until the caller has it; throws as `take` does. */
  takeForAnswer(bytes: number): void;
}

/** For what nobody else waits beside. */
export const UNCOUNTED: RequestMemory = { take: () => {}, free: () => {}, takeForAnswer: () => {} };
