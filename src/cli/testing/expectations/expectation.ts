import type { Checks } from '../../outputs/checks/checks.ts';
import type { SchemaCheck } from '../../outputs/output-schema.ts';

/** How a text is compared with an answer. */
export const TEXT_KINDS = [
  'contains',
  'icontains',
  'startsWith',
  'istartsWith',
  'endsWith',
  'iendsWith',
  'equals',
] as const;
export type TextKind = (typeof TEXT_KINDS)[number];

/** The keys an expectation can have. */
export const EXPECTATIONS = [
  'json',
  'jmespath',
  ...TEXT_KINDS,
  'matches',
  'schema',
  'containsJson',
  'not',
  'any',
  'seconds',
  'tokens',
  'cost',
  'rubric',
  'llm',
  'command',
] as const;

/** Where an expectation stands in its test file. */
interface Place {
  /** From 1. */
  readonly line: number;
  /** The offset of its key, which no other expectation of the file shares. */
  readonly at: number;
}

/** One thing that is expected of what came back. */
export type Expectation = Place &
  (
    | TextExpectation
    | { readonly kind: 'json'; readonly value: unknown }
    | { readonly kind: 'jmespath'; readonly expression: string }
    | { readonly kind: 'matches'; readonly pattern: RegExp }
    /** `name` is the schema's file, or what it is called in messages. */
    | { readonly kind: 'schema'; readonly name: string; readonly check: SchemaCheck }
    /** Without a schema any JSON value will do. */
    | { readonly kind: 'containsJson'; readonly schema: object | boolean | undefined }
    | { readonly kind: 'not'; readonly expectation: Expectation }
    /** One of these must be met; each is met if all of its own are. */
    | { readonly kind: 'any'; readonly options: readonly (readonly Expectation[])[] }
    /** Seconds, service tokens or US dollars, at most. */
    | { readonly kind: 'seconds' | 'tokens' | 'cost'; readonly most: number }
    | Rubric
    | Llm
    | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]] }
  );

export interface TextExpectation {
  readonly kind: TextKind;
  readonly text: string;
}

export function isTextExpectation<E extends { readonly kind: string }>(
  expectation: E,
): expectation is E & TextExpectation {
  return TEXT_KINDS.some(kind => kind === expectation.kind);
}

/** What a model must find true of the answer. */
interface Rubric {
  readonly kind: 'rubric';
  readonly text: string;
  /** Judges if no `--judge` is named. */
  readonly model?: string;
}

/** A question to a model, and what its answers are worth. */
interface Llm {
  readonly kind: 'llm';
  /** With placeholders such as `{{completion}}`. */
  readonly prompt: string;
  readonly systemPrompt?: string;
  /** Answers if no `--judge` is named. */
  readonly model?: string;
  /** The first that the answer contains decides; it must be worth more than 0. */
  readonly choices: readonly { readonly choice: string; readonly score: number }[];
}

/** Every expectation among these, those inside others too. */
export function* allExpectations(expectations: readonly Expectation[]): Generator<Expectation> {
  for (const expectation of expectations) {
    yield expectation;
    if (expectation.kind === 'not') yield* allExpectations([expectation.expectation]);
    if (expectation.kind === 'any') yield* allExpectations(expectation.options.flat());
  }
}

/** What came back, as expectations look at it. */
export interface Answer {
  /** Every text output, in order, a line break between two. */
  readonly text: string;
  /** From the sending of the creation to the end of the run. */
  readonly seconds: number;
  /** Service tokens. */
  readonly tokens: number;
  /** In US dollars; undefined if it is not known. */
  readonly dollars: () => Promise<number | undefined>;
}

/** An expectation that was not met. */
export interface Mismatch {
  /** Of the expectation, in the test file. */
  readonly line: number;
  /** The offset of its key. */
  readonly at: number;
  readonly message: string;
  /** Both if a difference can be shown. */
  readonly expected?: string;
  readonly actual?: string;
}

/** A question to a model. */
export interface Question {
  readonly prompt: string;
  readonly system?: string | undefined;
  /** Asked if no judge was named. */
  readonly model?: string | undefined;
}

/** What some expectations need besides the answer. */
export interface ExpectationTools {
  /** Does what may take for ever on a text and a rule of others. */
  readonly checks: Pick<Checks, 'perform'>;
  /** The answer of the judge, or of the question's own model. */
  readonly ask: (question: Question) => Promise<string>;
  /** Runs a program on the answer; undefined if it ended with 0, else how it ended and what it printed. */
  readonly command: (
    argv: readonly [string, ...string[]],
    text: string,
  ) => Promise<CommandFailure | undefined>;
  /** What the placeholders of `llm` stand for, besides the answer. */
  readonly values: ReadonlyMap<string, string>;
}

/** How a program that did not accept an answer ended. */
export interface CommandFailure {
  /** Such as `ended with 1`. */
  readonly end: string;
  /** The beginning of what it printed. */
  readonly printed: string;
}
