import { Refusal, tooMany } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { mebibytes } from './api-error.ts';

/** Default for the bytes of all requests in memory: four bodies of the maximum size. */
const DEFAULT_BODY_MEMORY_BYTES = 256 * 1024 * 1024;
/** Seconds until a retry may succeed. */
const RETRY_S = 1;

/** Minimum size of an answer to count, in bytes. */
const COUNTED_ANSWER_BYTES = 64 * 1024;

/** The memory that a request reserves until it is answered. */
export interface RequestReservation extends RequestMemory {
  /** Releases everything after the answer was sent; nothing is counted afterwards. */
  close(): void;
}

/** Counts the memory of requests and answers over all connections. One user gets at most half of it. */
export class MemoryBudget {
  #taken = 0;
  readonly #takenBy = new Map<number, number>();

  constructor(private readonly most: number = DEFAULT_BODY_MEMORY_BYTES) {}

  /** Returns the reservation of one request of a user. */
  reserveFor(userId: number): RequestReservation {
    const request = this.#share(userId);
    const answer = this.#share(userId);
    return {
      take: request.take,
      free: request.free,
      takeForAnswer: bytes => {
        if (bytes > COUNTED_ANSWER_BYTES) answer.take(bytes);
      },
      close: () => {
        request.free();
        answer.free();
      },
    };
  }

  #share(userId: number): Pick<RequestMemory, 'take' | 'free'> {
    let reservedBytes = 0;
    let isFreed = false;
    return {
      take: bytes => {
        if (isFreed) return;
        this.#check(userId, bytes, reservedBytes + bytes);
        reservedBytes += bytes;
        this.#add(userId, bytes);
      },
      free: () => {
        if (isFreed) return;
        isFreed = true;
        this.#add(userId, -reservedBytes);
      },
    };
  }

  #check(userId: number, bytes: number, ofRequest: number): void {
    const ofUser = (this.#takenBy.get(userId) ?? 0) + bytes;
    if (ofRequest > this.most / 2) {
      const message = `the request and the pictures it names are larger than ${mebibytes(this.most / 2)}`;
      throw new Refusal('TOO_LARGE', message);
    }
    if (this.#taken + bytes > this.most || ofUser > this.most / 2) {
      throw tooMany(
        `too many large requests and answers at once (at most ${mebibytes(this.most / 2)} of one user, ${mebibytes(this.most)} in all); send them one after the other`,
        RETRY_S,
      );
    }
  }

  #add(userId: number, bytes: number): void {
    this.#taken += bytes;
    const ofUser = (this.#takenBy.get(userId) ?? 0) + bytes;
    if (ofUser === 0) this.#takenBy.delete(userId);
    else this.#takenBy.set(userId, ofUser);
  }
}
