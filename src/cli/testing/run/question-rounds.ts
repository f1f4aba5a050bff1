import PQueue from 'p-queue';
import { type RunRequest, requestDigest } from '../../inputs/request-body.ts';
import type { ResumableRequests } from '../../jobs/resumable-requests.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';

/** A question that a judge is to be asked. */
export interface JudgeQuestion {
  /** The repetition whose answer it is about. */
  readonly asker: string;
  readonly request: RunRequest;
  /** What the service's search says that its run is expected to take. */
  readonly estimatedCredits: unknown;
}

interface OpenQuestion extends JudgeQuestion {
  readonly settle: (result: RequestResult) => void;
}

/** A question whose asker waits. */
interface WaitingQuestion {
  readonly question: OpenQuestion;
  readonly fail: (error: Error) => void;
}

/** Programs of test files that run at a time. */
const MOST_PROGRAMS = 4;

/**
 * Gathers the questions of many checks, and has them asked together once no check can go on without an answer: a batch
 * of a provider takes minutes or hours, however few questions are in it.
 */
export class QuestionRounds {
  readonly #askAll: (questions: readonly OpenQuestion[]) => Promise<void>;
  readonly #programs = new PQueue({ concurrency: MOST_PROGRAMS });
  /** Parts of checks that don't wait for an answer. */
  #working = 0;
  #waiting: WaitingQuestion[] = [];
  #fault: Error | undefined;

  /** @param askAll settles each question, or throws what no question could be asked after */
  constructor(askAll: (questions: readonly OpenQuestion[]) => Promise<void>) {
    this.#askAll = askAll;
  }

  /** What no question could be asked after; undefined if there is nothing. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Does a check that may ask. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#pause();
    }
  }

  /** Does the parts of a check side by side, so that their questions go in one round. */
  async all(parts: readonly (() => Promise<void>)[]): Promise<void> {
    this.#working += Math.max(0, parts.length - 1);
    let left = parts.length;
    const done = await Promise.allSettled(
      parts.map(async part => {
        try {
          return await part();
        } finally {
          left -= 1;
          // After the last one the check itself goes on.
          if (left > 0) this.#pause();
        }
      }),
    );
    const failed = done.find(one => one.status === 'rejected');
    if (failed) throw asError(failed.reason);
  }

  ask(question: JudgeQuestion): Promise<RequestResult> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      const settle = (result: RequestResult): void => {
        this.#working += 1;
        resolve(result);
      };
      const fail = (error: Error): void => {
        this.#working += 1;
        reject(error);
      };
      this.#waiting.push({ question: { ...question, settle }, fail });
      this.#pause();
    });
  }

  /** Runs a program of a test file, in its turn. */
  program<T>(run: () => Promise<T>): Promise<T> {
    return this.#programs.add(run);
  }

  #pause(): void {
    this.#working -= 1;
    // Others may have been about to begin.
    queueMicrotask(() => {
      if (this.#working === 0 && this.#waiting.length > 0) void this.#ask(this.#waiting.splice(0));
    });
  }

  async #ask(round: readonly WaitingQuestion[]): Promise<void> {
    const open = new Set(round);
    const questions = round.map(one => ({
      ...one.question,
      settle: (result: RequestResult) => {
        if (open.delete(one)) one.question.settle(result);
      },
    }));
    try {
      await this.#askAll(questions);
      if (open.size > 0) throw new Error('a question to a judge was not answered');
    } catch (error) {
      const fault = asError(error);
      this.#fault ??= fault;
      for (const { fail } of open) fail(fault);
    }
  }
}

/** Returns rounds of questions that are jobs themselves, kept beside those of their askers. */
export function roundsOf(kept: ResumableRequests): QuestionRounds {
  const asked = new Map<string, number>();
  const idOf = (asker: string, digest: string): string => {
    const question = `${asker}/${digest.slice(0, 32)}`;
    asked.set(question, (asked.get(question) ?? 0) + 1);
    return `${question}-${asked.get(question)}`;
  };
  return new QuestionRounds(async questions => {
    const jobs = questions.map(({ asker, request, estimatedCredits, settle }, at) => {
      const id = idOf(asker, requestDigest(request));
      return { id, row: at + 1, estimatedCredits, request: async () => request, settle };
    });
    await kept.run(jobs, async (job, result) => job.settle(result));
  });
}

/** Returns the id of the job that a job is, or whose answer its question is about. */
export function askerOf(id: string): string {
  return id.split('/', 1)[0] ?? id;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
