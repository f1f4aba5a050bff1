import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Deadline, resolveWhenAborted } from '../utils/abort-signals.ts';
import { pastTimeError } from '../utils/limit-exceeded.ts';
import type { ProcessTree, ProgramEnd } from './process-tree.ts';

/** Maximum size of a program's output. */
export const MAX_OUTPUT_MIB = 8;

/** Maximum number of characters of standard error to keep. */
const MAX_STDERR_LENGTH = 2000;

/** Maximum time to wait for the rest of the output after the program has ended. */
const PROGRAM_OUTPUT_GRACE = { waitCount: 10, waitMs: 100 } as const;

export interface ProgramOutput {
  /** Standard output without the final line break, or the answer of a program that stays. */
  readonly answer: string;
  /** The beginning of standard error. */
  readonly stderr: string;
  readonly isTooLong: boolean;
  /** `answered` for the answer of a program that stays; undefined if this process ended it. */
  readonly end: ProgramEnd | 'answered' | undefined;
}

export interface ProgramLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Collects the output of a program, up to a maximum. */
export class OutputCollector {
  /** Resolves once standard output is longer than the maximum. */
  readonly whenTooLong: Promise<undefined>;
  #isTooLong = false;
  #chunks: Buffer[] = [];
  #length = 0;
  #stderr = '';
  #lookForLine = (): void => {};

  constructor({ stdout, stderr }: { stdout: Readable; stderr: Readable }) {
    stdout.on('error', () => {});
    stderr.on('error', () => {});

    this.whenTooLong = new Promise(resolve => {
      stdout.on('data', (chunk: Buffer) => {
        this.#length += chunk.length;
        if (this.#length <= MAX_OUTPUT_MIB * 1024 * 1024) {
          this.#chunks.push(chunk);
          if (chunk.includes('\n')) this.#lookForLine();
        } else {
          this.#chunks = [];
          this.#isTooLong = true;
          resolve(undefined);
        }
      });
    });

    stderr.setEncoding('utf8').on('data', (text: string) => {
      if (this.#stderr.length < MAX_STDERR_LENGTH) {
        this.#stderr = (this.#stderr + text).slice(0, MAX_STDERR_LENGTH);
      }
    });
  }

  /** Resolves with the rest of the next line that begins with these characters. */
  waitForLine(prefix: string): Promise<string> {
    return new Promise(resolve => {
      this.#lookForLine = () => {
        const completeLines = this.#decodeText().split('\n').slice(0, -1);
        const answerLine = completeLines.find(line => line.startsWith(prefix));
        if (answerLine !== undefined) resolve(answerLine.slice(prefix.length));
      };
    });
  }

  /** Returns what was printed since the last call. */
  takeOutput(): Omit<ProgramOutput, 'end'> {
    const answer = this.#decodeText().replace(/\r?\n$/u, '');
    const output = { answer, stderr: this.#stderr, isTooLong: this.#isTooLong };
    this.#chunks = [];
    this.#length = 0;
    this.#stderr = '';
    return output;
  }

  #decodeText(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/**
 * Returns the output of a program once it has answered, or once it has ended with all of its
 * processes. Ends a program that exceeds a limit.
 *
 * @param answer resolves with the answer of a program that stays; without it, the program answers
 * by its end
 * @throws if it can't be started, and the signal's reason
 */
export async function collectOutput(
  { tree, output }: { readonly tree: ProcessTree; readonly output: OutputCollector },
  { signal, timeoutMs }: ProgramLimits,
  answer?: Promise<string>,
): Promise<ProgramOutput> {
  const deadline = new Deadline(signal);
  deadline.addLimit(timeoutMs, () => pastTimeError('the program', timeoutMs));
  try {
    const outcomes: Promise<ProgramEnd | string | undefined>[] = [
      tree.whenEnded,
      output.whenTooLong,
    ];
    if (answer) outcomes.push(answer);
    const outcome = await resolveWhenAborted(Promise.race(outcomes), deadline.signal);
    if (typeof outcome === 'string') {
      return { ...output.takeOutput(), answer: outcome, end: 'answered' };
    }

    await tree.end();
    signal.throwIfAborted();
    await waitForOutput(tree);

    // It may have answered just before it ended by itself.
    const lastAnswer = outcome && answer && (await readIfResolved(answer));
    return lastAnswer === undefined
      ? { ...output.takeOutput(), end: outcome }
      : { ...output.takeOutput(), answer: lastAnswer, end: 'answered' };
  } finally {
    deadline.end();
  }
}

/** Returns the value of a promise that has resolved; undefined for one that is pending. */
function readIfResolved<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, Promise.resolve(undefined)]);
}

/**
 * Waits for the output in several steps, so that a process that was suspended meanwhile still reads
 * what is there.
 */
async function waitForOutput({ whenClosed }: ProcessTree): Promise<void> {
  const isClosed = whenClosed.then(() => true);
  for (let waits = 0; waits < PROGRAM_OUTPUT_GRACE.waitCount; waits += 1) {
    const grace = delay(PROGRAM_OUTPUT_GRACE.waitMs, false, { ref: false });
    if (await Promise.race([isClosed, grace])) return;
  }
}
