import { ProtocolError } from './errors.ts';

/**
 * Notices when the cursors of a list go round in a circle. One is remembered at a time, each twice as long as the one
 * before, so that a circle of any length is found and nothing grows with the list.
 */
export class Circle {
  #remembered: string | undefined;
  #term = 1;
  #left = 1;

  /** @throws {ProtocolError} where the list comes back to where it was */
  pass(cursor: string): void {
    if (cursor === this.#remembered) {
      throw new ProtocolError('the service gives the same page of runs again and again');
    }
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#remembered = cursor;
    this.#term *= 2;
    this.#left = this.#term;
  }
}
