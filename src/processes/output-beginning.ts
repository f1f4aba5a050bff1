import type { Readable } from 'node:stream';

/** The beginning of the text that streams print; what follows is discarded. */
export class OutputBeginning {
  readonly #maxLength: number;
  #text = '';
  #isCut = false;

  /** @param maxLength the maximum number of characters, of all streams together */
  constructor(streams: readonly Readable[], maxLength: number) {
    this.#maxLength = maxLength;
    for (const stream of streams) {
      stream.setEncoding('utf8');
      stream.on('error', () => {});
      stream.on('data', (piece: string) => this.#add(piece));
    }
  }

  get text(): string {
    return this.#text;
  }

  /** True if the streams printed more than the maximum. */
  get isCut(): boolean {
    return this.#isCut;
  }

  #add(piece: string): void {
    const remainingLength = this.#maxLength - this.#text.length;
    this.#text += piece.slice(0, remainingLength);
    this.#isCut ||= piece.length > remainingLength;
  }
}
