import type { PromptPlaces } from '../definition.ts';
import type { Findings } from '../findings.ts';
import type { ReadSibling } from '../parse/named-schemas.ts';
import type { ForeignTests } from './foreign-tests.ts';

/** A file of another format. */
export interface ForeignSource {
  readonly file: string;
  readonly text: string;
  readonly readSibling: ReadSibling;
}

/** A prompt of another format, converted to a prompt file. */
export interface ForeignPrompt {
  readonly prompt: string;
  /** The positions of its parts in the source. */
  readonly places: PromptPlaces;
  /** Undefined if the file has no tests. */
  readonly tests?: ForeignTests | undefined;
  /** The prompt's name, if it differs from the file's. */
  readonly name?: string;
}

/** A prompt file format of another tool. */
export interface ForeignFormat {
  /** The name with its article, such as `a role of aichat`. */
  readonly name: string;
  /**
   * Reads a file of this format. Faults become findings; returns undefined if nothing can be read.
   *
   * @param testFindings collects faults in its tests, which need not prevent a run
   */
  read(
    source: ForeignSource,
    findings: Findings,
    testFindings: Findings,
  ): ForeignPrompt | undefined;
}

/** Positions for a file whose parts have no lines of their own. */
export const TOP_OF_FILE: PromptPlaces = {
  model: { line: 1, column: 1 },
  output: { line: 1, column: 1 },
  config: {},
  defaults: {},
};
