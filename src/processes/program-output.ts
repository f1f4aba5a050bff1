import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessTree, ProgramEnd } from './process-tree.ts';

export interface ProgramOutput {
  /** Standard output, without the final line break. */
  readonly answer: string;
  /** The beginning of standard error. */
  readonly complaint: string;
  readonly isTooLong: boolean;
  /**
   * The way it ended; `answered` for a program that stays once it has; undefined if this process
   * ended it.
   */
  readonly end: ProgramEnd | 'answered' | undefined;
}

export interface ProgramLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

const MAX_MIB = 8;

/** Maximum number of characters of standard error to keep. */
const MAX_STDERR_LENGTH = 2000;

/** Collects the output of a program, up to a maximum. */
export class OutputCollector {
  static readonly mostMiB = MAX_MIB;
  readonly #tooLong = new AbortController();
  #chunks: Buffer[] = [];
  #length = 0;
  #complaint = '';
  #lookForLine = (): void => {};

  constructor({ stdout, stderr }: { stdout: Readable; stderr: Readable }) {
    stdout.on('error', () => {});
    stderr.on('error', () => {});

    stdout.on('data', (chunk: Buffer) => {
      this.#length += chunk.length;
      if (this.#length <= MAX_MIB * 1024 * 1024) {
        this.#chunks.push(chunk);
        if (chunk.includes('\n')) this.#lookForLine();
      } else {
        this.#chunks = [];
        this.#tooLong.abort();
      }
    });

    stderr.setEncoding('utf8').on('data', (piece: string) => {
      if (this.#complaint.length < MAX_STDERR_LENGTH) {
        this.#complaint = (this.#complaint + piece).slice(0, MAX_STDERR_LENGTH);
      }
    });
  }

  /** Aborted once standard output is longer than the maximum. */
  get tooLong(): AbortSignal {
    return this.#tooLong.signal;
  }

  /** Resolves with the rest of the next line that begins with these characters. */
  waitForLine(start: string): Promise<string> {
    return new Promise(resolve => {
      this.#lookForLine = () => {
        const lines = this.#decodeText().split('\n').slice(0, -1);
        const line = lines.find(line => line.startsWith(start));
        if (line !== undefined) resolve(line.slice(start.length));
      };
    });
  }

  /** Returns what was printed since the last call. */
  takeOutput(): Omit<ProgramOutput, 'end'> {
    const answer = this.#decodeText().replace(/\r?\n$/u, '');
    const taken = { answer, complaint: this.#complaint, isTooLong: this.tooLong.aborted };
    this.#chunks = [];
    this.#length = 0;
    this.#complaint = '';
    return taken;
  }

  #decodeText(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/**
 * Returns the output of a program once it has answered, or once it has ended with all of its
 * processes.
 *
 * @param answered resolves with the answer of a program that stays; without it, the program answers
 * by its end
 * @throws if it can't be started, and the signal's reason
 */
export async function collectOutput(
  { tree, printed }: { readonly tree: ProcessTree; readonly printed: OutputCollector },
  { signal, timeoutMs }: ProgramLimits,
  answered?: Promise<string>,
): Promise<ProgramOutput> {
  let stop = (): void => {};
  const stopped = new Promise<undefined>(resolve => {
    stop = () => resolve(undefined);
  });
  const timer = setTimeout(stop, timeoutMs);

  const signals = [signal, printed.tooLong];
  for (const stopSignal of signals) {
    if (stopSignal.aborted) {
      stop();
    } else {
      stopSignal.addEventListener('abort', stop, { once: true });
    }
  }

  try {
    const ends: Promise<ProgramEnd | string | undefined>[] = [tree.ended, stopped];
    if (answered) ends.push(answered);
    const end = await Promise.race(ends);
    if (typeof end === 'string') return { ...printed.takeOutput(), answer: end, end: 'answered' };

    await tree.end();
    signal.throwIfAborted();
    await waitForOutput(tree);

    // It may have answered just before it ended by itself.
    const answer = end && (await Promise.race([answered ?? NO_ANSWER, NO_ANSWER]));
    return answer === undefined
      ? { ...printed.takeOutput(), end }
      : { ...printed.takeOutput(), answer, end: 'answered' };
  } finally {
    clearTimeout(timer);
    for (const stopSignal of signals) stopSignal.removeEventListener('abort', stop);
  }
}

const NO_ANSWER = Promise.resolve(undefined);

/** Maximum time to wait for the rest of the output after the program has ended. */
const PROGRAM_OUTPUT_GRACE = { waits: 10, ms: 100 } as const;

/**
 * Waits for the output in several steps, so that a process that was suspended meanwhile still reads
 * what is there.
 */
async function waitForOutput({ closed }: ProcessTree): Promise<void> {
  const isClosed = closed.then(() => true);
  for (let waits = 0; waits < PROGRAM_OUTPUT_GRACE.waits; waits += 1) {
    if (await Promise.race([isClosed, delay(PROGRAM_OUTPUT_GRACE.ms, false, { ref: false })])) {
      return;
    }
  }
}
