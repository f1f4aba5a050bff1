import type { PromptPlaces } from '../definition.ts';
import type { Findings } from '../findings.ts';
import type { Beside } from '../parse/named-schemas.ts';
import type { ForeignTests } from './foreign-tests.ts';

/** A file of another form. */
export interface ForeignSource {
  readonly file: string;
  readonly text: string;
  readonly beside: Beside;
}

/** A prompt of another form, as a prompt file of ours. */
export interface ForeignPrompt {
  /** The text of the prompt file. */
  readonly prompt: string;
  /** Where its parts stand in the file it was read from. */
  readonly places: PromptPlaces;
  /** Undefined if the file has no tests. */
  readonly tests?: ForeignTests | undefined;
  /** Its name, if it isn't that of the file. */
  readonly name?: string;
}

/** A form of prompt files that another tool reads. */
export interface ForeignForm {
  /** Continues a sentence that begins with "this is". */
  readonly name: string;
  /** Whether the name of a file has to be a slug; default false. */
  readonly needsSlug?: boolean;
  /**
   * Reads a file of this form. What is wrong becomes a finding; undefined if nothing can be read.
   *
   * @param testFindings takes what is wrong with its tests, which need not keep it from being run
   */
  read(source: ForeignSource, findings: Findings, testFindings: Findings): ForeignPrompt | undefined;
}

/** The places of a file whose parts have no lines of their own. */
export const TOP_OF_FILE: PromptPlaces = {
  model: { line: 1, column: 1 },
  output: { line: 1, column: 1 },
  config: {},
  defaults: {},
};
