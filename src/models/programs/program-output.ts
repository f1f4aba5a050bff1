import type { Readable } from 'node:stream';
import type { ProgramEnd } from '../../processes/process-tree.ts';

export interface ProgramOutput {
  /** Standard output, without the final line break. */
  readonly answer: string;
  /** The beginning of standard error. */
  readonly complaint: string;
  readonly isTooLong: boolean;
  /** The way it ended; undefined if this process ended it. */
  readonly end: ProgramEnd | undefined;
}

const MAX_MIB = 8;
/** Maximum number of characters of standard error to keep. */
const MAX_STDERR_LENGTH = 2000;

/** Collects the output of a program, up to a maximum. */
export class OutputCollector {
  static readonly mostMiB = MAX_MIB;
  #chunks: Buffer[] = [];
  #length = 0;
  #isTooLong = false;
  #complaint = '';

  /** @param onTooLong called once standard output is longer than the maximum */
  constructor({ stdout, stderr }: { stdout: Readable; stderr: Readable }, onTooLong: () => void) {
    stdout.on('error', () => {});
    stderr.on('error', () => {});
    stdout.on('data', (chunk: Buffer) => {
      this.#length += chunk.length;
      if (this.#length <= MAX_MIB * 1024 * 1024) {
        this.#chunks.push(chunk);
      } else if (!this.#isTooLong) {
        this.#isTooLong = true;
        this.#chunks = [];
        onTooLong();
      }
    });
    stderr.setEncoding('utf8').on('data', (piece: string) => {
      if (this.#complaint.length < MAX_STDERR_LENGTH) {
        this.#complaint = (this.#complaint + piece).slice(0, MAX_STDERR_LENGTH);
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
