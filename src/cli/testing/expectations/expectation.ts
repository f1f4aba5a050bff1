import { PastBound } from '../../../files/bounds/past-bound.ts';
import type { JsonValue } from '../../../files/json.ts';
import type { Checks } from '../../outputs/checks/checks.ts';
import type { JavaScript, JavaScriptInput, JavaScriptResult } from '../../outputs/checks/javascript.ts';

/** One thing that is expected of what came back. */
export interface Expectation {
  /** The key that it stands under. */
  readonly kind: string;
  /** In the words of its file. */
  readonly text: string;
  /** In its file, from 1. */
  readonly line: number;
  /** The offset of its key, which no other expectation of the file shares. */
  readonly at: number;
  /** What of it was not met; undefined if all was. */
  readonly unmet: (answer: Answer) => Promise<Unmet | undefined>;
  /** Those that it is made of. */
  readonly parts?: readonly Expectation[];
  /** Of one that a model judges: the model, if no other is named for all. */
  readonly model?: string | undefined;
  readonly rank?: JudgeRank | undefined;
  /** True if it runs a program of the user's own. */
  readonly isProgram?: boolean;
}

/** A check that can't be made: it is not met, whatever was expected. */
export class BrokenCheck extends Error {}

/** Every expectation among these, those inside others too. */
export function* allExpectations(expectations: readonly Expectation[]): Generator<Expectation> {
  for (const expectation of expectations) {
    yield expectation;
    yield* allExpectations(expectation.parts ?? []);
  }
}

/**
 * Reports what of an expectation was not met; undefined if all was. A check that takes too long or can't be made is not
 * met, whatever was expected.
 *
 * @throws what its means throw when they can't say
 */
export async function checkExpectation(
  { line, at, text, unmet }: Expectation,
  answer: Answer,
): Promise<Mismatch | undefined> {
  try {
    const mismatch = await unmet(answer);
    return mismatch && { line, at, ...mismatch };
  } catch (error) {
    if (error instanceof BrokenCheck) return { line, at, message: error.message, actual: answer.text };
    if (!(error instanceof PastBound)) throw error;
    return { line, at, message: `${text}: ${error.message}`, actual: answer.text };
  }
}

/** What came back, as expectations look at it, and what they check it with. */
export interface Answer {
  /** Every text output, in order, a line break between two. */
  readonly text: string;
  /** The same as code sees it: what a transform made of it, which need not be a text. */
  readonly value: JsonValue;
  /** From the sending of the creation to the end of the run. */
  readonly seconds: number;
  /** Service tokens. */
  readonly tokens: number;
  /** In US dollars; undefined if it is not known. */
  readonly dollars: () => Promise<number | undefined>;
  /** Does what may take for ever on a text and a rule of others. */
  readonly checks: Pick<Checks, 'perform'>;
  /** The reply of the judge, or of the question's own model. */
  readonly ask: (question: Question) => Promise<string>;
  /** What code sees beside the output; the prompt only if it is asked for. */
  readonly context: (wantsPrompt: boolean) => Promise<JavaScriptInput['context']>;
  /** Runs code on a value that the answer is, or was made of. */
  readonly javascript: (script: JavaScript, output: JsonValue) => Promise<JavaScriptResult>;
  /** Runs a program on what the answer is, or was made into; undefined if it ended with 0. */
  readonly command: (
    argv: readonly [string, ...string[]],
    output: string,
  ) => Promise<CommandFailure | undefined>;
  /** What the placeholders of `llm` stand for, besides the answer. */
  readonly values: ReadonlyMap<string, string>;
}

/** What was not met. */
export interface Unmet {
  readonly message: string;
  /** Both if a difference can be shown. */
  readonly expected?: string;
  readonly actual?: string;
}

/** An expectation that was not met, and where it stands. */
export type Mismatch = Unmet & Pick<Expectation, 'line' | 'at'>;

/** A question to a model. */
export interface Question {
  readonly prompt: string;
  readonly system?: string | undefined;
  /** Asked if no judge was named. */
  readonly model?: string | undefined;
  readonly rank?: JudgeRank | undefined;
}

/**
 * When the model that a question names is asked: `first` also if `--judge` names another, `last` only if there is no
 * setting either.
 */
export type JudgeRank = 'first' | 'last';

/** How a program that did not accept an answer ended. */
export interface CommandFailure {
  /** Such as `ended with 1`. */
  readonly end: string;
  /** The beginning of what it printed. */
  readonly printed: string;
}
