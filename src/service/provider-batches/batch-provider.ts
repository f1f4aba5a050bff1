/** One request of a batch, by the name that its answer carries. */
export interface BatchRequest {
  readonly customId: string;
  /** What the provider is asked, as its interface has it. */
  readonly parameters: object;
}

/** How far a batch is. */
export interface BatchState {
  /** The provider's own word. */
  readonly state: string;
  readonly ended: boolean;
  readonly done: number;
  readonly failed: number;
  /** Why the provider refused the batch as a whole. */
  readonly fault?: string;
}

/** What came of a request: its answer as the provider gave it, or why there is none. */
export type BatchAnswer = { readonly body: Record<string, unknown> } | { readonly fault: string };

/** The batches of one provider: requests that it answers within a day, at a lower price. */
export interface BatchProvider {
  readonly name: string;
  /** What one batch may hold. */
  readonly limits: { readonly requests: number; readonly bytes: number };
  /**
   * Hands requests over.
   *
   * @param key what the batch is found by
   * @param file an upload of the same requests that was answered before; undefined if there is none
   * @param onFile called with the id of a new upload before the batch is created
   * @returns the provider's id of the batch
   */
  create(
    requests: readonly BatchRequest[],
    key: string,
    upload: { readonly file?: string | undefined; onFile(id: string): Promise<void> },
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * Looks for a batch whose creation was not answered; undefined if there is none, `unread` while one that may be it has
   * not ended.
   *
   * @throws {Error} if the provider's list can't be read
   */
  find(key: string, requests: number, signal: AbortSignal): Promise<{ id: string } | 'unread' | undefined>;
  look(id: string, signal: AbortSignal): Promise<BatchState>;
  /** The answers of a batch that has ended, in any order. @throws {Error} if they are gone */
  collect(id: string, signal: AbortSignal): AsyncIterable<{ customId: string; answer: BatchAnswer }>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}
