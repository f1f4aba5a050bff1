import { tooManyRequests } from './api-error.ts';

/** Bytes of request bodies in memory at a time, by default: four of the largest there may be. */
const MAX_BODIES_BYTES = 256 * 1024 * 1024;
/** When another try may be worth it, in seconds. */
const RETRY_S = 1;

/** The room that one request's body takes up. */
export interface BodyRoom {
  /** Throws TOO_MANY_REQUESTS_ERROR where there is no room for as many more bytes. */
  take(bytes: number): void;
  /** Once the body is no longer in memory; further calls do nothing. */
  free(): void;
}

/** Counts the bodies that are in memory over all connections; one user has half of the room at most. */
export class BodyBudget {
  #taken = 0;
  readonly #takenBy = new Map<number, number>();

  constructor(private readonly most: number = MAX_BODIES_BYTES) {}

  room(userId: number): BodyRoom {
    let own = 0;
    const add = (bytes: number): void => {
      own += bytes;
      this.#taken += bytes;
      const all = (this.#takenBy.get(userId) ?? 0) + bytes;
      if (all === 0) this.#takenBy.delete(userId);
      else this.#takenBy.set(userId, all);
    };
    return {
      take: bytes => {
        const ofUser = this.#takenBy.get(userId) ?? 0;
        if (this.#taken + bytes > this.most || ofUser + bytes > this.most / 2) {
          throw tooManyRequests(
            'too many large request bodies at once; send them one after the other',
            RETRY_S,
          );
        }
        add(bytes);
      },
      free: () => add(-own),
    };
  }
}
