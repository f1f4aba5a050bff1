import { createHash } from 'node:crypto';
import PQueue from 'p-queue';
import { countUp } from '../../../utils/count-up.ts';
import { toError } from '../../../utils/error-utils.ts';
import { computeRequestDigest, type RunRequest } from '../../inputs/request-body.ts';
import type { ResumableRequests } from '../../jobs/resumable-requests.ts';
import type { RequestResult } from '../../jobs/run-requests.ts';

/** A question about the answer of a repetition. */
export interface JudgeQuestion {
  /** The id of the repetition whose answer it is about. */
  readonly repetitionId: string;
  readonly request: RunRequest;
  /** The estimate of the answer's cost in the service's search results. */
  readonly estimatedCredits: unknown;
}

/** A question with the function to call with its answer. */
interface PendingQuestion extends JudgeQuestion {
  readonly settle: (result: RequestResult) => void;
}

/** A question whose check waits for the answer. */
interface WaitingQuestion {
  readonly question: PendingQuestion;
  readonly fail: (error: Error) => void;
}

/** Maximum number of test files' programs that run at a time. */
const MAX_PROGRAMS = 4;

/**
 * Collects the questions of many checks and asks them together once no check can continue without
 * an answer, because a provider's batch takes minutes or hours even for a few questions.
 *
 * `#runningCount` is the number of checks, or parts of them, that may still ask. A check counts as
 * one; split into three parts, it counts as three until the first two have ended. A check or part
 * that waits for an answer doesn't count. At 0, a round is asked.
 */
export class QuestionRounds {
  readonly #answerAll: (questions: readonly PendingQuestion[]) => Promise<void>;
  readonly #programs = new PQueue({ concurrency: MAX_PROGRAMS });
  #runningCount = 0;
  #waitingQuestions: WaitingQuestion[] = [];
  #fault: Error | undefined;

  /** @param answerAll settles each question, or throws an error that ends all questions */
  constructor(answerAll: (questions: readonly PendingQuestion[]) => Promise<void>) {
    this.#answerAll = answerAll;
  }

  /** The error that ended all questions; undefined if there is none. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Runs a check that may ask questions. */
  async runCheck<T>(work: () => Promise<T>): Promise<T> {
    this.#runningCount += 1;
    try {
      return await work();
    } finally {
      this.#leaveRunning();
    }
  }

  /** Runs the parts of a check concurrently, so that their questions share a round. */
  async runParts(parts: readonly (() => Promise<void>)[]): Promise<void> {
    this.#runningCount += Math.max(0, parts.length - 1);
    let runningPartCount = parts.length;
    const outcomes = await Promise.allSettled(
      parts.map(async runPart => {
        try {
          return await runPart();
        } finally {
          runningPartCount -= 1;
          // After the last part the check itself continues.
          if (runningPartCount > 0) this.#leaveRunning();
        }
      }),
    );
    const failure = outcomes.find(result => result.status === 'rejected');
    if (failure) throw toError(failure.reason);
  }

  /** Asks a question with the next round. Rejects if the round, or an earlier one, failed. */
  ask(question: JudgeQuestion): Promise<RequestResult> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      const settle = (result: RequestResult): void => {
        this.#runningCount += 1;
        resolve(result);
      };

      const fail = (error: Error): void => {
        this.#runningCount += 1;
        reject(error);
      };

      this.#waitingQuestions.push({ question: { ...question, settle }, fail });
      this.#leaveRunning();
    });
  }

  /** Runs a test file's program once there is room for it. */
  runProgram<T>(run: () => Promise<T>): Promise<T> {
    return this.#programs.add(run);
  }

  #leaveRunning(): void {
    this.#runningCount -= 1;
    // Other checks may be about to start.
    queueMicrotask(() => {
      const canAsk = this.#runningCount === 0 && this.#waitingQuestions.length > 0;
      if (canAsk) void this.#askRound(this.#waitingQuestions.splice(0));
    });
  }

  async #askRound(round: readonly WaitingQuestion[]): Promise<void> {
    const openQuestions = new Set(round);
    const questions = round.map(waitingQuestion => ({
      ...waitingQuestion.question,
      settle: (result: RequestResult) => {
        if (openQuestions.delete(waitingQuestion)) waitingQuestion.question.settle(result);
      },
    }));
    try {
      await this.#answerAll(questions);
      if (openQuestions.size > 0) throw new Error('a question to a judge was not answered');
    } catch (error) {
      const fault = toError(error);
      this.#fault ??= fault;
      for (const { fail } of openQuestions) fail(fault);
    }
  }
}

/** Returns rounds whose questions are jobs in the journal of the test. */
export function createJournaledRounds(requests: ResumableRequests): QuestionRounds {
  const counts = new Map<string, number>();
  const createQuestionId = (repetitionId: string, request: RunRequest): string => {
    // The version depends on the judge, so that one judge's answer is never used as another's.
    const content = `${request.promptVersionId}-${computeRequestDigest(request)}`;
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 32);
    const baseId = `${repetitionId}/${digest}`;
    return `${baseId}-${countUp(counts, baseId)}`;
  };
  return new QuestionRounds(async questions => {
    const jobs = questions.map(({ repetitionId, request, estimatedCredits, settle }, index) => {
      const id = createQuestionId(repetitionId, request);
      return {
        id,
        row: index + 1,
        estimatedCredits,
        buildRequest: async () => request,
        settle,
        isQuestion: true,
      };
    });
    await requests.run(jobs, async (job, result) => job.settle(result));
  });
}

/** Returns the id of the repetition's job for its own id or that of a question about it. */
export function getRepetitionId(id: string): string {
  return id.split('/', 1)[0] ?? id;
}
