import type { Readable } from 'node:stream';
import type { ProgramEnd } from '../../files/bounds/process-tree.ts';

/** What a program came to. */
export interface ProgramOutput {
  /** Its standard output, without one line break at its end. */
  readonly answer: string;
  /** The beginning of its standard error. */
  readonly complaint: string;
  readonly isTooLong: boolean;
  /** undefined if it was ended from here. */
  readonly end: ProgramEnd | undefined;
}

const MOST_MIB = 8;
/** Characters of standard error that are kept. */
const MOST_COMPLAINT = 2000;

/** Keeps what a program prints, as far as it may. */
export class Printed {
  static readonly mostMiB = MOST_MIB;
  #chunks: Buffer[] = [];
  #length = 0;
  #isTooLong = false;
  #complaint = '';

  /** @param onTooLong called once its standard output is longer than may be kept */
  constructor({ stdout, stderr }: { stdout: Readable; stderr: Readable }, onTooLong: () => void) {
    stdout.on('error', () => {});
    stderr.on('error', () => {});
    stdout.on('data', (chunk: Buffer) => {
      this.#length += chunk.length;
      if (this.#length <= MOST_MIB * 1024 * 1024) {
        this.#chunks.push(chunk);
      } else if (!this.#isTooLong) {
        this.#isTooLong = true;
        this.#chunks = [];
        onTooLong();
      }
    });
    stderr.setEncoding('utf8').on('data', (piece: string) => {
      if (this.#complaint.length < MOST_COMPLAINT) {
        this.#complaint = (this.#complaint + piece).slice(0, MOST_COMPLAINT);
      }
    });
  }

  take(): Omit<ProgramOutput, 'end'> {
    const answer = Buffer.concat(this.#chunks)
      .toString('utf8')
      .replace(/\r?\n$/u, '');
    return { answer, complaint: this.#complaint, isTooLong: this.#isTooLong };
  }
}
