import { Refusal, tooMany } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { formatMebibytes } from './api-error.ts';

/** Default limit for all requests in memory: four bodies of the maximum size. */
const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** Time after which a refused caller may retry, in seconds. */
const RETRY_AFTER_S = 1;

/** Minimum size of an answer that is counted, in bytes. */
const MIN_COUNTED_ANSWER_BYTES = 64 * 1024;

/** The memory that a request reserves until it is answered. */
export interface RequestReservation extends RequestMemory {
  /** Releases everything after the answer was sent; nothing is counted afterwards. */
  close(): void;
}

/**
 * Counts the memory of requests and answers over all connections. One user gets at most half of it.
 */
export class MemoryBudget {
  #reservedBytes = 0;
  readonly #reservedBytesByUser = new Map<number, number>();

  constructor(private readonly maxBytes: number = DEFAULT_MAX_BYTES) {}

  /** Returns the reservation of one request of a user. */
  createReservation(userId: number): RequestReservation {
    const request = this.#createShare(userId);
    const answer = this.#createShare(userId);
    return {
      reserve: request.reserve,
      release: request.release,
      reserveForAnswer: bytes => {
        if (bytes >= MIN_COUNTED_ANSWER_BYTES) answer.reserve(bytes);
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
        this.#requireRoom(userId, bytes, reservedBytes + bytes);
        reservedBytes += bytes;
        this.#addReserved(userId, bytes);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#addReserved(userId, -reservedBytes);
      },
    };
  }

  #requireRoom(userId: number, bytes: number, shareBytes: number): void {
    const userBytes = (this.#reservedBytesByUser.get(userId) ?? 0) + bytes;
    if (shareBytes > this.maxBytes / 2) {
      const message = `the request and the pictures it names are larger than ${formatMebibytes(this.maxBytes / 2)}`;
      throw new Refusal('TOO_LARGE', message);
    }
    if (this.#reservedBytes + bytes > this.maxBytes || userBytes > this.maxBytes / 2) {
      throw tooMany(
        `too many large requests and answers at once (at most ${formatMebibytes(this.maxBytes / 2)} of one user, ${formatMebibytes(this.maxBytes)} in all); send them one after the other`,
        RETRY_AFTER_S,
      );
    }
  }

  #addReserved(userId: number, bytes: number): void {
    this.#reservedBytes += bytes;
    const userBytes = (this.#reservedBytesByUser.get(userId) ?? 0) + bytes;
    if (userBytes === 0) {
      this.#reservedBytesByUser.delete(userId);
    } else {
      this.#reservedBytesByUser.set(userId, userBytes);
    }
  }
}
