/** The tests of a foreign file, as cases and expectations. */
export interface ForeignTests {
  /** The file's model, which judges unless another is named. */
  readonly model?: string;
  readonly cases: readonly ForeignCase[];
  /** Notes on the tests, such as a check that does not count. */
  readonly notes: readonly { readonly line: number; readonly message: string }[];
}

/** A case of a foreign file. */
export interface ForeignCase {
  readonly name: string;
  /** The line of the case in its file, from 1. */
  readonly line: number;
  readonly inputs: Readonly<Record<string, string>>;
  /** Fields that only expectations see. */
  readonly data: Readonly<Record<string, string>>;
  readonly expect: readonly ForeignExpectation[];
}

/**
 * An expectation of a foreign file, with the inputs and data of its case filled in, except in
 * `llm`.
 */
export type ForeignExpectation = {
  /** The line, from 1. */
  readonly line: number;
  /** The number among the evaluators of the file, from 1. */
  readonly at: number;
} & (
  | { readonly kind: 'equals' | 'icontains' | 'istartsWith' | 'iendsWith'; readonly text: string }
  | { readonly kind: 'rubric'; readonly text: string; readonly model?: string }
  | {
      readonly kind: 'llm';
      /** The prompt, with placeholders for the output (`completion`), inputs and data. */
      readonly prompt: string;
      readonly systemPrompt?: string;
      readonly model?: string;
      readonly choices: readonly { readonly choice: string; readonly score: number }[];
    }
);

/** Maximum length of a value in the name of a case. */
const MAX_NAMED_CHARACTERS = 40;

/** Returns the name of a case: its number and the beginning of its first value. */
export function formatCaseName(number: number, firstValue: string): string {
  const beginning = firstValue.trim().replace(/\s+/gu, ' ').slice(0, MAX_NAMED_CHARACTERS);
  return beginning === '' ? String(number) : `${number}: ${beginning}`;
}
