/** What a foreign file says of tests, as the cases and expectations of our own test files. */
export interface ForeignTests {
  /** The model that the file names, which judges if no other is named. */
  readonly model?: string;
  readonly cases: readonly ForeignCase[];
  /** What is worth knowing about them, such as a check that does not count. */
  readonly notes: readonly { readonly line: number; readonly message: string }[];
}

export interface ForeignCase {
  readonly name: string;
  /** Of the case in its file, from 1. */
  readonly line: number;
  readonly inputs: Readonly<Record<string, string>>;
  /** Fields that expectations alone see. */
  readonly data: Readonly<Record<string, string>>;
  readonly expect: readonly ForeignExpectation[];
}

export type ForeignExpectation = {
  /** From 1. */
  readonly line: number;
  /** Tells it from the others of its file. */
  readonly at: number;
} & (
  | { readonly kind: 'equals' | 'icontains' | 'istartsWith' | 'iendsWith'; readonly text: string }
  | { readonly kind: 'rubric'; readonly text: string; readonly model?: string }
  | {
      readonly kind: 'llm';
      /** With placeholders for the output (`completion`), inputs and data. */
      readonly prompt: string;
      readonly systemPrompt?: string;
      readonly model?: string;
      readonly choices: readonly { readonly choice: string; readonly score: number }[];
    }
);
