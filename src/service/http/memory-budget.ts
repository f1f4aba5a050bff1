import { Refusal, tooMany } from '../core/refusal.ts';
import type { RequestMemory } from '../core/request-memory.ts';
import { mebibytes } from './api-error.ts';

/** Bytes that requests keep in memory at a time, by default: four of the largest bodies there may be. */
const MAX_BYTES = 256 * 1024 * 1024;
/** When another try may be worth it, in seconds. */
const RETRY_S = 1;

/** Answers of fewer bytes are not counted. */
const COUNTED_ANSWER_BYTES = 64 * 1024;

/** What a request takes up until its connection has done with it. */
export interface RequestRoom extends RequestMemory {
  /** Frees all of it, once the answer has gone; nothing is counted from then on. */
  close(): void;
}

/** Counts what requests and answers keep in memory, over all connections; one user has half of the room at most. */
export class MemoryBudget {
  #taken = 0;
  readonly #takenBy = new Map<number, number>();

  constructor(private readonly most: number = MAX_BYTES) {}

  /** The room that one request of a user takes up. */
  room(userId: number): RequestRoom {
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
    let own = 0;
    let freed = false;
    return {
      take: bytes => {
        if (freed) return;
        this.#check(userId, bytes, own + bytes);
        own += bytes;
        this.#add(userId, bytes);
      },
      free: () => {
        if (freed) return;
        freed = true;
        this.#add(userId, -own);
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
