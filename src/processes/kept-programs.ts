import { randomUUID } from 'node:crypto';
import type { ProcessTree } from './process-tree.ts';
import {
  collectOutput,
  type OutputCollector,
  type ProgramLimits,
  type ProgramOutput,
} from './program-output.ts';

/** A started program, with what belongs to it. */
export interface StartedProgram {
  readonly tree: ProcessTree;
  readonly printed: OutputCollector;
  /** Ends it with all that it started, and removes what belongs to it. */
  end(): Promise<void>;
}

export interface ProgramQuestion<P extends StartedProgram> {
  /** Questions with the same key are for the same program. */
  readonly key: string;
  readonly facts: object;
  readonly limits: ProgramLimits;
  /** Starts the program. @throws if it can't be started */
  start(): Promise<P>;
  prepare(program: P): Promise<void>;
}

/**
 * Programs that stay, because they take long to start. Each answers one question at a time: a line of JSON with an `id` on
 * its standard input asks, and a line on its standard output that begins with this id answers. Whatever else it prints is
 * no answer.
 */
export class KeptPrograms<P extends StartedProgram> {
  readonly #idle: { readonly key: string; readonly kept: KeptProgram<P> }[] = [];

  /**
   * Asks a program that waits, or starts one. A program that does not answer is ended.
   *
   * @returns its answer without the id, with `end` as `answered`; or what it printed instead
   * @throws if it can't be started, and the reason of the signal
   */
  async ask(question: ProgramQuestion<P>): Promise<ProgramOutput> {
    const { key } = question;
    const kept = this.#takeIdle(key) ?? new KeptProgram(await question.start());
    let hasAnswered = false;
    try {
      const output = await kept.ask(question);
      hasAnswered = output.end === 'answered';
      return output;
    } finally {
      if (hasAnswered && kept.isRunning) this.#idle.push({ key, kept });
      else await kept.end();
    }
  }

  /** Ends the programs that wait; later questions start them again. */
  async endIdle(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map(({ kept }) => kept.end()));
  }

  /** Takes a program that waits; undefined if there is none. */
  #takeIdle(key: string): KeptProgram<P> | undefined {
    const at = this.#idle.findIndex(idle => idle.key === key && idle.kept.isRunning);
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0]?.kept;
  }
}

class KeptProgram<P extends StartedProgram> {
  readonly #program: P;
  #isRunning = true;

  constructor(program: P) {
    this.#program = program;
    const onEnd = (): void => {
      this.#isRunning = false;
    };
    program.tree.ended.then(onEnd, onEnd);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  async ask({ facts, limits, prepare }: ProgramQuestion<P>): Promise<ProgramOutput> {
    const id = randomUUID();
    const { tree, printed } = this.#program;
    await prepare(this.#program);
    const answer = printed.lineAfter(`${id} `);
    tree.child.stdin.write(`${JSON.stringify({ id, ...facts })}\n`);
    return await collectOutput(this.#program, limits, answer);
  }

  end(): Promise<void> {
    return this.#program.end();
  }
}
