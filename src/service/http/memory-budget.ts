import { Refusal, tooMany } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { formatMebibytes } from './api-error.ts';

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

/**
 * Counts the memory of requests and answers over all connections. One user gets at most half of it.
 */
export class MemoryBudget {
  #reserved = 0;
  readonly #reservedByUser = new Map<number, number>();

  constructor(private readonly maxBytes: number = DEFAULT_BODY_MEMORY_BYTES) {}

  /** Returns the reservation of one request of a user. */
  reserveFor(userId: number): RequestReservation {
    const request = this.#createShare(userId);
    const answer = this.#createShare(userId);
    return {
      reserve: request.reserve,
      release: request.release,
      reserveForAnswer: bytes => {
        if (bytes > COUNTED_ANSWER_BYTES) answer.reserve(bytes);
      },
      close: () => {
        request.release();
        answer.release();
      },
    };
  }

  #createShare(userId: number): Pick<RequestMemory, 'reserve' | 'release'> {
    let reservedBytes = 0;
    let isReleased = false;
    return {
      reserve: bytes => {
        if (isReleased) return;
        this.#check(userId, bytes, reservedBytes + bytes);
        reservedBytes += bytes;
        this.#add(userId, bytes);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#add(userId, -reservedBytes);
      },
    };
  }

  #check(userId: number, bytes: number, requestBytes: number): void {
    const userBytes = (this.#reservedByUser.get(userId) ?? 0) + bytes;
    if (requestBytes > this.maxBytes / 2) {
      const message = `the request and the pictures it names are larger than ${formatMebibytes(this.maxBytes / 2)}`;
      throw new Refusal('TOO_LARGE', message);
    }
    if (this.#reserved + bytes > this.maxBytes || userBytes > this.maxBytes / 2) {
      throw tooMany(
        `too many large requests and answers at once (at most ${formatMebibytes(this.maxBytes / 2)} of one user, ${formatMebibytes(this.maxBytes)} in all); send them one after the other`,
        RETRY_S,
      );
    }
  }

  #add(userId: number, bytes: number): void {
    this.#reserved += bytes;
    const userBytes = (this.#reservedByUser.get(userId) ?? 0) + bytes;
    if (userBytes === 0) {
      this.#reservedByUser.delete(userId);
    } else {
      this.#reservedByUser.set(userId, userBytes);
    }
  }
}
