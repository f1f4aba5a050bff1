import type { JsonObject, JsonValue } from '../../files/formats/json.ts';

/** A prompt file and its test file, converted from another format. */
export interface ConvertedPrompt {
  /** The text of the prompt file. */
  readonly promptText: string;
  /** The content of the test file; undefined without tests. */
  readonly testContent: JsonObject | undefined;
  /** The text of a models file for the programs and addresses in the source. */
  readonly modelsText?: string;
  /** Notes on what was left out because it has no equivalent, and on other differences. */
  readonly notes: readonly ConversionNote[];
  /** The number of prompts in the source; only one is converted. */
  readonly promptCount?: number;
  /** True if the source names only unknown providers. */
  readonly namesOnlyUnknownProviders?: boolean;
  /** Maximum number of cases to run at a time. */
  readonly maxConcurrency?: number | undefined;
  /** The cases, with their lines in the source. */
  readonly cases?: readonly ConvertedCase[];
  /** The number of cases that were left out. */
  readonly leftOutCaseCount?: number;
  /** True if the chosen prompt can't be expressed, so that its cases are left out. */
  readonly isPromptLeftOut?: boolean;
  /** The programs that make tests and have not been run yet. */
  readonly testPrograms?: readonly TestProgram[];
  /** The program that makes the prompt of each case, if there is one. */
  readonly program?: PromptProgram;
  /** The template that makes the prompt of each case, if there is one. */
  readonly template?: PromptTemplate;
}

/** A case of the test file, with what its tests need to know about the source. */
export interface ConvertedCase {
  readonly line: number;
  /** The number of its checks that were left out. */
  readonly leftOutCheckCount: number;
  readonly vars: Readonly<Record<string, JsonValue>>;
  /** The indices of the models to run it with; undefined for all. */
  readonly modelIndices?: readonly number[] | undefined;
  /**
   * Its position among the cases that use each other's answers; undefined if it uses none, and no
   * later case uses its answer.
   */
  readonly turn?: ConvertedTurn;
}

/** The position of a case in a sequence of cases that run one after another. */
export interface ConvertedTurn {
  /**
   * The number of the test that the case comes from. promptfoo runs all repetitions of a test
   * before the next test.
   */
  readonly testNumber: number;
  /** The key of the conversation that it continues, if its prompt uses `_conversation`. */
  readonly conversationKey?: string;
  /** The variable that keeps its answer for later cases. */
  readonly answerVariable?: string;
  /** The variables with answers of earlier cases that its prompt uses. */
  readonly usedAnswerVariables: readonly string[];
  /**
   * The indices of the cases whose answers it uses, so that it runs after them: the one before it
   * in its conversation, and those behind its variables.
   */
  readonly afterIndices: readonly number[];
}

/**
 * A program that prints a list of tests as JSON, code that makes other values of their variables,
 * or a template of Nunjucks.
 */
export type TestProgram = { readonly name: string; readonly line: number } & (
  | { readonly argv: readonly [string, ...string[]] }
  | { readonly code: string; readonly input: JsonValue }
  | RenderedTemplate
);

/** A template of Nunjucks with the variables of a case. */
export interface RenderedTemplate {
  readonly template: string;
  readonly vars: Readonly<Record<string, JsonValue>>;
  /**
   * True to render it as the value of an assertion, whose variables are rendered already; by
   * default it is rendered as a prompt.
   */
  readonly isAssertionValue?: boolean;
}

/** A prompt whose text is made for each case. */
interface GeneratedPrompt {
  /** The front matter of the prompt file for the text. */
  readonly frontMatter: JsonObject;
  /** Inputs that the prompt need not use. */
  readonly optionalInputs: readonly string[];
  readonly line: number;
}

/** A program that takes a case's variables and prints a prompt. */
export interface PromptProgram extends GeneratedPrompt {
  readonly argv: readonly [string, ...string[]];
  /**
   * The labels of the test file's models, empty for none, if the program makes a prompt for each.
   */
  readonly labels?: readonly string[];
}

/** A prompt in Nunjucks that takes more than a prompt file can express. */
export interface PromptTemplate extends GeneratedPrompt {
  readonly text: string;
}

/** A note on a part of the source that was left out or changed. */
export interface ConversionNote {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** True if it changes no test. */
  readonly isHarmless?: boolean;
  /** True if it changes no test, and whoever runs them should know it. */
  readonly isWarning?: boolean;
  /** True if it works once programs and addresses are allowed. */
  readonly needsCommands?: boolean;
}

/** The note on an expectation that a model judges. */
export const JUDGED_NOTE = 'judged by the model that `promptrun test --judge` names';
