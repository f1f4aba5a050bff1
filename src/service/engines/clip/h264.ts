/**
 * Writes H.264 (ITU-T H.264, constrained baseline) without compressing anything: what changed since the picture before
 * is stored as it is (I_PCM), everything else is skipped. Every player knows the format, and no encoder is needed.
 */

/** Samples of a square of 16 × 16 pixels: 256 of luma, 64 of each chroma. */
export type Macroblock = Uint8Array;

/** A picture's squares that changed, by their number, row by row; of the first picture all of them. */
export type Frame = ReadonlyMap<number, Macroblock>;

export interface Size {
  /** A multiple of 16. */
  readonly width: number;
  /** A multiple of 16. */
  readonly height: number;
}

const LEVEL = 30;
const PROFILE = [0x42, 0xc0, LEVEL] as const;
/** Frame numbers are written in so many bits; a film has fewer frames than they can count. */
const FRAME_NUMBER_BITS = 8;

/** What a decoder must know before the first picture: the sequence and the picture parameter set. */
export function parameterSets({ width, height }: Size): { sequence: Buffer; picture: Buffer } {
  const sequence = new BitWriter(0x67, ...PROFILE)
    .numbers(0, FRAME_NUMBER_BITS - 4, 2, 1)
    .bit(0)
    .numbers(width / 16 - 1, height / 16 - 1)
    .bit(1, 1, 0, 0);
  const picture = new BitWriter(0x68)
    .numbers(0, 0)
    .bit(0, 0)
    .numbers(0, 0, 0)
    .bit(0, 0, 0)
    .numbers(0, 0, 0)
    .bit(1, 0, 0);
  return { sequence: sequence.end(), picture: picture.end() };
}

/** A picture: the first of a film stands for itself, the others begin from the one before. */
export function encodeFrame(frame: Frame, number: number, { width, height }: Size): Buffer {
  const first = number === 0;
  const slice = new BitWriter(first ? 0x65 : 0x41)
    .numbers(0, first ? 7 : 5, 0)
    .bits(number, FRAME_NUMBER_BITS);
  if (first) slice.numbers(0).bit(0, 0);
  else slice.bit(0, 0, 0);
  slice.numbers(0, 1); // no change of quantiser, no filter over the edges of squares
  let skipped = 0;
  for (let index = 0; index < (width / 16) * (height / 16); index += 1) {
    const macroblock = frame.get(index);
    if (!macroblock) {
      skipped += 1;
      continue;
    }
    if (first) slice.numbers(I_PCM);
    else slice.numbers(skipped, I_PCM + FIRST_INTRA_TYPE);
    slice.bytes(macroblock);
    skipped = 0;
  }
  if (skipped > 0) slice.numbers(skipped);
  return slice.end();
}

const I_PCM = 25;
/** Where the types of self-contained squares begin in a picture that builds on another. */
const FIRST_INTRA_TYPE = 5;

/** Writes a unit of the stream, bit by bit. */
class BitWriter {
  readonly #chunks: Uint8Array[] = [];
  #current = 0;
  #filled = 0;
  #pending: number[];

  constructor(...head: number[]) {
    this.#pending = head;
  }

  bit(...bits: number[]): this {
    for (const bit of bits) {
      this.#current = (this.#current << 1) | bit;
      this.#filled += 1;
      if (this.#filled === 8) {
        this.#pending.push(this.#current);
        this.#current = 0;
        this.#filled = 0;
      }
    }
    return this;
  }

  bits(value: number, count: number): this {
    for (let shift = count - 1; shift >= 0; shift -= 1) this.bit((value >> shift) & 1);
    return this;
  }

  /** Exponential Golomb codes: as many zeros as the number plus one has bits after its first, then the number plus one. */
  numbers(...values: number[]): this {
    for (const value of values) {
      const length = Math.floor(Math.log2(value + 1));
      this.bits(0, length).bits(value + 1, length + 1);
    }
    return this;
  }

  /** Begins at a whole byte. */
  bytes(bytes: Uint8Array): this {
    while (this.#filled > 0) this.bit(0);
    this.#chunks.push(Uint8Array.from(this.#pending), bytes);
    this.#pending = [];
    return this;
  }

  end(): Buffer {
    this.bit(1);
    while (this.#filled > 0) this.bit(0);
    return escaped(Buffer.concat([...this.#chunks, Uint8Array.from(this.#pending)]));
  }
}

/** Two zero bytes and a small one would look like the start of another unit: a 3 goes between them. */
function escaped(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let start = 0;
  let zeros = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes.readUInt8(index);
    if (zeros >= 2 && byte <= 3) {
      parts.push(bytes.subarray(start, index), Buffer.of(3));
      start = index;
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.concat([...parts, bytes.subarray(start)]);
}
