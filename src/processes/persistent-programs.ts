import { randomUUID } from 'node:crypto';
import type { ProcessTree } from './process-tree.ts';
import {
  collectOutput,
  type OutputCollector,
  type ProgramLimits,
  type ProgramOutput,
} from './program-output.ts';

/**
 * Time after which a question that waits for a program starts another one, in milliseconds: about
 * what a start takes.
 */
const START_ANOTHER_AFTER_MS = 100;

/** A started program, with what belongs to it. */
export interface StartedProgram {
  readonly tree: ProcessTree;
  readonly output: OutputCollector;
  /** Ends it with all that it started, and removes what belongs to it. */
  end(): Promise<void>;
}

export interface ProgramQuestion<P extends StartedProgram> {
  /** Questions with the same key are for the same program. */
  readonly key: string;
  /** The fields of the line that asks, beside its `id`. */
  readonly fields: object;
  readonly limits: ProgramLimits;
  /** Starts the program. @throws if it can't be started */
  start(): Promise<P>;
  /** Writes the files that the program reads for this question, before it is asked. */
  prepare(program: P): Promise<void>;
}

/**
 * Programs that stay, because they take long to start. Each answers one question at a time: a line
 * of JSON with an `id` on its standard input asks, and a line on its standard output that begins
 * with this id answers. Whatever else it prints is not an answer.
 */
export class PersistentPrograms<P extends StartedProgram> {
  readonly #pools = new Map<string, ProgramPool<P>>();

  /**
   * Asks a program that waits, or starts one. A program that does not answer is ended.
   *
   * @returns the line that answers, without its id, if `end` is `answered`; otherwise all it printed
   * @throws if it can't be started, and the reason of the signal
   */
  async ask(question: ProgramQuestion<P>): Promise<ProgramOutput> {
    const pool = this.#pools.get(question.key) ?? new ProgramPool<P>();
    this.#pools.set(question.key, pool);
    return await pool.ask(question);
  }

  /** Ends the programs that wait; later questions start them again. */
  async endIdle(): Promise<void> {
    await Promise.all([...this.#pools.values()].map(pool => pool.endIdle()));
  }
}

/**
 * The programs for questions with the same key: few if they answer at once, up to one for each
 * question if they don't.
 */
class ProgramPool<P extends StartedProgram> {
  readonly #idle: PersistentProgram<P>[] = [];
  /** The questions that wait for a program, in their order. */
  readonly #waitingQuestions: ((program: PersistentProgram<P>) => void)[] = [];
  /** Number of programs that start or answer. */
  #busyCount = 0;

  /**
   * Asks a program, which stays if it answers. It is ended otherwise, also if the question was
   * cancelled before it was asked, because the command itself may be ending.
   */
  async ask(question: ProgramQuestion<P>): Promise<ProgramOutput> {
    const idleProgram =
      this.#takeIdle() ?? (this.#busyCount === 0 ? undefined : await this.#waitForFree());
    this.#busyCount += 1;

    let program = idleProgram;
    let hasAnswered = false;
    try {
      program ??= new PersistentProgram(await question.start());
      const output = await program.ask(question);
      hasAnswered = output.end === 'answered';
      return output;
    } finally {
      this.#busyCount -= 1;
      if (program && hasAnswered && program.isRunning) {
        this.#passOn(program);
      } else {
        await program?.end();
      }
    }
  }

  async endIdle(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(program => program.end()));
  }

  #takeIdle(): PersistentProgram<P> | undefined {
    const index = this.#idle.findIndex(({ isRunning }) => isRunning);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0];
  }

  /** Returns the next program that has answered; undefined if it is time to start one. */
  #waitForFree(): Promise<PersistentProgram<P> | undefined> {
    return new Promise(resolve => {
      const startAnother = (): void => {
        this.#waitingQuestions.splice(this.#waitingQuestions.indexOf(takeProgram), 1);
        resolve(undefined);
      };

      // The first question that waits starts one after 100 ms, the second after 200 ms, and so on, so
      // that programs which take long to start are not all started at once.
      const timer = setTimeout(
        startAnother,
        START_ANOTHER_AFTER_MS * (this.#waitingQuestions.length + 1),
      );
      const takeProgram = (program: PersistentProgram<P>): void => {
        clearTimeout(timer);
        resolve(program);
      };

      this.#waitingQuestions.push(takeProgram);
    });
  }

  #passOn(program: PersistentProgram<P>): void {
    const next = this.#waitingQuestions.shift();
    if (next) {
      next(program);
    } else {
      this.#idle.push(program);
    }
  }
}

class PersistentProgram<P extends StartedProgram> {
  readonly #program: P;
  #isRunning = true;

  constructor(program: P) {
    this.#program = program;
    const onEnd = (): void => {
      this.#isRunning = false;
    };
    program.tree.whenEnded.then(onEnd, onEnd);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  async ask({ fields, limits, prepare }: ProgramQuestion<P>): Promise<ProgramOutput> {
    const id = randomUUID();
    const { tree, output } = this.#program;
    await prepare(this.#program);

    // Nothing is asked for a run that has been cancelled meanwhile.
    limits.signal.throwIfAborted();
    const answer = output.waitForLine(`${id} `);
    tree.child.stdin.write(`${JSON.stringify({ id, ...fields })}\n`);
    return await collectOutput(this.#program, limits, answer);
  }

  end(): Promise<void> {
    return this.#program.end();
  }
}
