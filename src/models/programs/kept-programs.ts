import type { EngineResult } from '../engine.ts';
import { messageValues } from './placeholder-values.ts';
import { collectOutput, type ProgramOutput } from './program-output.ts';
import { type AskedProgram, notStarted, programResult } from './program-result.ts';
import { type ProgramOptions, runFacts, type StartedProgram, startProgram } from './start-program.ts';

/**
 * Programs that stay, because they take long to start. Each answers one run at a time: a line of JSON on its standard
 * input asks, and a line on its standard output answers. The line begins with the run's id, so that nothing else that is
 * printed is taken for an answer.
 */
export class KeptPrograms {
  readonly #options: ProgramOptions;
  readonly #idle: { readonly key: string; readonly program: KeptProgram }[] = [];
  #isClosed = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
  }

  /** Asks a program that waits, or starts one. A program that gives no answer is ended. */
  async ask(asked: AskedProgram): Promise<EngineResult> {
    const { job, declared } = asked;
    const key = JSON.stringify(declared.argv);
    try {
      const program =
        this.#takeIdle(key) ?? new KeptProgram(await startProgram(job, declared, this.#options));
      let stays = false;
      try {
        const output = await program.ask(asked);
        stays = output.end === 'stays';
        return await programResult(asked, output);
      } finally {
        if (stays && !this.#isClosed) this.#idle.push({ key, program });
        else await program.end();
      }
    } catch (error) {
      job.signal.throwIfAborted();
      return notStarted(asked, error);
    }
  }

  /** Ends the programs that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map(({ program }) => program.end()));
  }

  /** Takes a program that waits; undefined if there is none. */
  #takeIdle(key: string): KeptProgram | undefined {
    const at = this.#idle.findIndex(idle => idle.key === key && idle.program.isRunning);
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0]?.program;
  }
}

class KeptProgram {
  readonly #started: StartedProgram;
  #isRunning = true;

  constructor(started: StartedProgram) {
    this.#started = started;
    const onEnd = (): void => {
      this.#isRunning = false;
    };
    started.tree.ended.then(onEnd, onEnd);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Asks for the answer of a run. Only a line with the id of this run answers it. */
  async ask({ job, declared }: AskedProgram): Promise<ProgramOutput> {
    const { tree, printed, folder } = this.#started;
    const { runId, signal, traceparent } = job;
    await folder.describe(runFacts(job));
    const answered = printed.lineAfter(`${runId} `);
    tree.child.stdin.write(`${JSON.stringify({ runId, messages: messageValues(job), traceparent })}\n`);
    return await collectOutput(this.#started, { signal, timeoutMs: declared.timeoutMs }, answered);
  }

  end(): Promise<void> {
    return this.#started.end();
  }
}
