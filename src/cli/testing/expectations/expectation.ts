import type { SchemaCheck } from '../../outputs/output-schema.ts';

/** One thing that is expected of what came back. */
export type Expectation = { readonly line: number } & (
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'jmespath'; readonly expression: string }
  | { readonly kind: 'contains'; readonly text: string }
  | { readonly kind: 'matches'; readonly pattern: string }
  | { readonly kind: 'schema'; readonly file: string; readonly check: SchemaCheck }
  | { readonly kind: 'equals'; readonly text: string }
  | { readonly kind: 'not'; readonly expectation: Expectation }
  | { readonly kind: 'seconds'; readonly most: number }
  | { readonly kind: 'rubric'; readonly text: string }
);

/** What came back, as expectations look at it. */
export interface Answer {
  /** Every text output, in order, a line break between two. */
  readonly text: string;
  /** From the creation to the end of the run. */
  readonly seconds: number;
}

/** An expectation that was not met. */
export interface Mismatch {
  /** Of the expectation, in the test file. */
  readonly line: number;
  readonly message: string;
  /** Both where a difference can be shown. */
  readonly expected?: string;
  readonly actual?: string;
}

/** Asks the judge whether a text satisfies a rubric. */
export type Judge = (
  rubric: string,
  text: string,
) => Promise<{ readonly passed: boolean; readonly reason: string }>;
