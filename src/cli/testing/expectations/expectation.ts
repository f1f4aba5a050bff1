import type { JsonObject, JsonValue } from '../../../files/formats/json.ts';
import { LimitExceededError } from '../../../utils/limit-exceeded.ts';
import type { CheckRunner } from '../../checks/check-runner.ts';
import type {
  JavaScript,
  JavaScriptInput,
  JavaScriptResult,
} from '../../checks/load-javascript.ts';
import type { NodeCheckInput, NodeVerdict } from '../../checks/node-checks.ts';

/** A check of an answer, from a test file. */
export interface Expectation {
  /** The key in the test file. */
  readonly kind: string;
  /** The text in the test file. */
  readonly text: string;
  /** The line in the file, from 1. */
  readonly line: number;
  /** The offset of its key, unique in the file. */
  readonly at: number;
  /** Returns the part that was not met; undefined if all was met. */
  readonly findMismatch: (answer: CheckedAnswer) => Promise<UnmetPart | undefined>;
  /** The expectations of `not` or `any`. */
  readonly innerExpectations?: readonly Expectation[];
  /** The model that judges, unless `--judge` names another. */
  readonly model?: string | undefined;
  readonly judgeRank?: JudgeRank | undefined;
  readonly judgeConfig?: JsonObject | undefined;
  /** True if it runs one of the user's programs. */
  readonly runsProgram?: boolean;
}

/** The error of a check that can't be run. Its expectation counts as not met. */
export class BrokenCheckError extends Error {}

/** Yields every expectation, including nested ones. */
export function* flattenExpectations(expectations: readonly Expectation[]): Generator<Expectation> {
  for (const expectation of expectations) {
    yield expectation;
    yield* flattenExpectations(expectation.innerExpectations ?? []);
  }
}

/**
 * Returns the mismatch of an expectation; undefined if it was met. A check that takes too long or
 * fails to run counts as not met.
 *
 * @throws the errors of a judge, a service or a program that gives no verdict
 */
export async function checkExpectation(
  { line, at, text, findMismatch }: Expectation,
  answer: CheckedAnswer,
): Promise<UnmetExpectation | undefined> {
  try {
    const mismatch = await findMismatch(answer);
    return mismatch && { line, at, ...mismatch };
  } catch (error) {
    if (error instanceof BrokenCheckError) {
      return { line, at, message: error.message, actual: answer.text };
    }
    if (!(error instanceof LimitExceededError)) throw error;
    return { line, at, message: `${text}: ${error.message}`, actual: answer.text };
  }
}

/** An answer, with the tools that expectations check it with. */
export interface CheckedAnswer {
  /** All text outputs in order, separated by line breaks. */
  readonly text: string;
  /** The value that code sees: the text, or the result of a transform. */
  readonly value: JsonValue;
  /** True if values that are not texts are compact JSON for other expectations, as in promptfoo. */
  readonly isAsPromptfoo?: boolean | undefined;
  /** The time from the creation to the end of the run; null if unknown, as in a provider batch. */
  readonly seconds: number | null;
  /** Service tokens. */
  readonly tokens: number;
  /** Returns the cost in US dollars; undefined if unknown. */
  readonly readDollars: () => Promise<number | undefined>;
  /** Returns true if the cost is unknown only because the model has no price. */
  readonly isUnpriced: () => boolean;
  /** Runs untrusted rules on the untrusted answer, which may never end, in a separate process. */
  readonly checks: Pick<CheckRunner, 'perform'>;
  /** Returns the reply of the judge, or of the question's own model. */
  readonly ask: (question: ModelQuestion) => Promise<string>;
  /** Returns the context for code; contains the prompt only if requested. */
  readonly buildContext: (options: {
    readonly needsPrompt: boolean;
  }) => Promise<JavaScriptInput['context']>;
  /** Runs code on the answer, or on a transformed answer. */
  readonly runJavaScript: (script: JavaScript, output: JsonValue) => Promise<JavaScriptResult>;
  /** Lets Node check the answer, or a transformed answer, with code that only Node can run. */
  readonly checkWithNode: (script: JavaScript, input: NodeCheckInput) => Promise<NodeVerdict>;
  /** Runs a program on the answer or a transformed answer; undefined if it exited with 0. */
  readonly runCommand: (
    argv: readonly [string, ...string[]],
    output: string,
  ) => Promise<CommandFailure | undefined>;
  /** The values of the placeholders of `llm`, except the answer. */
  readonly placeholderValues: ReadonlyMap<string, string>;
}

/** The part of an expectation that was not met. */
export interface UnmetPart {
  readonly message: string;
  /** Set together with `actual` if there is a difference to show. */
  readonly expected?: string;
  readonly actual?: string;
}

/** An expectation that was not met, with its place. */
export type UnmetExpectation = UnmetPart & Pick<Expectation, 'line' | 'at'>;

/** A question about an answer, to a judge or to the question's own model. */
export interface ModelQuestion {
  readonly prompt: string;
  readonly system?: string | undefined;
  /** The model to ask without `--judge`. */
  readonly model?: string | undefined;
  readonly judgeRank?: JudgeRank | undefined;
  readonly judgeConfig?: JsonObject | undefined;
}

/**
 * The precedence of the model that a question names: `first` over `--judge`, `last` after `--judge`
 * and the setting.
 */
export type JudgeRank = 'first' | 'last';

/** The failure of a program that did not accept an answer. */
export interface CommandFailure {
  /** The end as text, such as `ended with 1`. */
  readonly endText: string;
  /** The beginning of its output. */
  readonly output: string;
}
